/**
 * Draft 7 tuples (`items` as a list, `additionalItems`) in the words of 2020-12.
 */

import { isObject, visitSchemas } from "./walk.js";

/**
 * @param {{ [keyword: string]: any }} root
 * @returns {{ [keyword: string]: any }}
 */
export function upgradeTuples(root) {
  const json = JSON.parse(JSON.stringify(root));
  visitSchemas(json, "schema", (schema) => {
    if (typeof schema.$ref === "string") {
      schema.$ref = schema.$ref
        .replace(/\/items\/(?=\d+(?:\/|$))/g, "/prefixItems/")
        .replace(/\/additionalItems(?=\/|$)/g, "/items");
    }
    if (!Array.isArray(schema.items)) return;
    schema.prefixItems = schema.items;
    delete schema.items;
    if (isObject(schema.additionalItems) || schema.additionalItems === false) schema.items = schema.additionalItems;
    delete schema.additionalItems;
  });
  return json;
}
