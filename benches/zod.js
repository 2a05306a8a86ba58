/** The schema library by itself: what any peer pays at its start for importing it and for the benchmark's schema. */

import { z } from "zod";

import { schemaOf } from "./work.js";

export default {
  name: "zod",
  pkg: "zod",
  runTrivial: async () => schemaOf(z),
};
