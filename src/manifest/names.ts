/** A capsule's name. */
export const CAPSULE_NAME = /^[a-z0-9-]{1,64}$/;

/** Semantic version 2.0.0, without build restrictions. */
export const SEMVER =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$/;

/** The longest version, characters. */
export const MAX_VERSION = 256;

/** A tool's name: what every model's interface takes; two underscores stand between a server and its tool. */
export const TOOL_NAME = /^(?!.*__)[a-z][a-z0-9_-]{0,63}$/;
