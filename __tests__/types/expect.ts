/** Whether two types are the same; `any` equals nothing but itself. */
export type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** Compiles for `true` only. */
export type Expect<T extends true> = T;

/** The same as a statement, for types that exist inside a function. */
export declare function expectType<T extends true>(): T;
