import type { Grants } from "../grants/mod.ts";
import { Fields, textItem } from "./fields.ts";

/** Grants as their parent resolved them: every mount bound. @throws `protocol.bad_field` naming the field */
export function decodeGrants(fields: Fields): Grants {
  const fs = fields.object("fs");
  const limits = fields.object("limits");
  return {
    fs: {
      ...fs.optional("work", (name) => fs.oneOf(name, ["ro", "rw"] as const)),
      mounts: fs.list("mounts", (item, path) => {
        const mount = new Fields(item, path);
        return {
          guest: mount.string("guest"),
          mode: mount.oneOf("mode", ["ro", "rw"] as const),
          host: mount.string("host"),
        };
      }),
    },
    env: fields.list("env", textItem),
    net: fields.list("net", textItem),
    spawn: fields.list("spawn", textItem),
    stdio: fields.boolean("stdio"),
    clocks: fields.boolean("clocks"),
    random: fields.boolean("random"),
    limits: {
      memory_mb: limits.integer("memory_mb"),
      deadline_ms: limits.integer("deadline_ms"),
      ...limits.optional("cpu_seconds", (name) => limits.integer(name)),
      ...limits.optional("output_bytes", (name) => limits.integer(name)),
      open_files: limits.integer("open_files"),
      file_bytes: limits.integer("file_bytes"),
      work_bytes: limits.integer("work_bytes"),
    },
    ...fields.optional("containment", (name) => fields.oneOf(name, ["advisory", "scoped"] as const)),
  };
}
