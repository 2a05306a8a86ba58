/**
 * The functions that every step goes through, which the core exports without a macro that would write their types: see the
 * core's `node/hot.rs`. Each returns how many words of commands it left, negative where texts belong to them.
 */
export interface HotFunctions {
  say(engine: number, text: string): void;
  call(engine: number, id: string, tool: number, input: string, kept: number, exclusive: number): void;
  reply(engine: number, id: number, finish: number): number;
  result(engine: number, id: number, value: string): number;
  nothing(engine: number, id: number): number;
  answer(engine: number, id: number, text: string): number;
  callTool(
    engine: number,
    id: number,
    ticket: number,
    tool: number,
    args: string,
    kept: number,
    exclusive: number,
  ): number;
  texts(engine: number): string | string[];
}
