/** `error-code` of `wasi:filesystem/types`: thrown as a string, which is how the glue takes an enum. */
export type FileError =
  | "access"
  | "would-block"
  | "already"
  | "bad-descriptor"
  | "busy"
  | "deadlock"
  | "quota"
  | "exist"
  | "file-too-large"
  | "illegal-byte-sequence"
  | "in-progress"
  | "interrupted"
  | "invalid"
  | "io"
  | "is-directory"
  | "loop"
  | "too-many-links"
  | "message-size"
  | "name-too-long"
  | "no-device"
  | "no-entry"
  | "no-lock"
  | "insufficient-memory"
  | "insufficient-space"
  | "not-directory"
  | "not-empty"
  | "not-recoverable"
  | "unsupported"
  | "no-tty"
  | "no-such-device"
  | "overflow"
  | "not-permitted"
  | "pipe"
  | "read-only"
  | "invalid-seek"
  | "text-file-busy"
  | "cross-device";

const BY_NAME = new Map<string, FileError>([
  ["EACCES", "access"],
  ["EAGAIN", "would-block"],
  ["EALREADY", "already"],
  ["EBADF", "bad-descriptor"],
  ["EBUSY", "busy"],
  ["EDEADLK", "deadlock"],
  ["EDQUOT", "quota"],
  ["EEXIST", "exist"],
  ["EFBIG", "file-too-large"],
  ["EILSEQ", "illegal-byte-sequence"],
  ["EINTR", "interrupted"],
  ["EINVAL", "invalid"],
  ["EIO", "io"],
  ["EISDIR", "is-directory"],
  ["ELOOP", "loop"],
  ["EMFILE", "insufficient-memory"], // WASI has no name for too many open files
  ["EMLINK", "too-many-links"],
  ["ENAMETOOLONG", "name-too-long"],
  ["ENFILE", "insufficient-memory"],
  ["ENODEV", "no-device"],
  ["ENOENT", "no-entry"],
  ["ENOLCK", "no-lock"],
  ["ENOMEM", "insufficient-memory"],
  ["ENOSPC", "insufficient-space"],
  ["ENOSYS", "unsupported"],
  ["ENOTDIR", "not-directory"],
  ["ENOTEMPTY", "not-empty"],
  ["ENOTSUP", "unsupported"],
  ["ENXIO", "no-such-device"],
  ["EOPNOTSUPP", "unsupported"],
  ["EOVERFLOW", "overflow"],
  ["EPERM", "not-permitted"],
  ["EPIPE", "pipe"],
  ["EROFS", "read-only"],
  ["ESPIPE", "invalid-seek"],
  ["ETXTBSY", "text-file-busy"],
  ["EXDEV", "cross-device"],
]);

// Deno names few of its errors; the others carry the kernel's number in their message. Linux, then macOS where it
// differs and the number is free on Linux.
const BY_NUMBER = new Map<number, FileError>(
  ([
    [1, "EPERM"],
    [2, "ENOENT"],
    [4, "EINTR"],
    [5, "EIO"],
    [6, "ENXIO"],
    [9, "EBADF"],
    [11, "EAGAIN"],
    [12, "ENOMEM"],
    [13, "EACCES"],
    [16, "EBUSY"],
    [17, "EEXIST"],
    [18, "EXDEV"],
    [19, "ENODEV"],
    [20, "ENOTDIR"],
    [21, "EISDIR"],
    [22, "EINVAL"],
    [23, "ENFILE"],
    [24, "EMFILE"],
    [26, "ETXTBSY"],
    [27, "EFBIG"],
    [28, "ENOSPC"],
    [29, "ESPIPE"],
    [30, "EROFS"],
    [31, "EMLINK"],
    [32, "EPIPE"],
    [35, "EDEADLK"],
    [36, "ENAMETOOLONG"],
    [37, "ENOLCK"],
    [38, "ENOSYS"],
    [39, "ENOTEMPTY"],
    [40, "ELOOP"],
    [62, "ELOOP"],
    [63, "ENAMETOOLONG"],
    [66, "ENOTEMPTY"],
    [69, "EDQUOT"],
    [75, "EOVERFLOW"],
    [84, "EILSEQ"],
    [95, "EOPNOTSUPP"],
    [122, "EDQUOT"],
  ] as const).map(([number, name]) => [number, BY_NAME.get(name)!]),
);

const CODES: ReadonlySet<string> = new Set<FileError>([...BY_NAME.values(), "in-progress", "message-size"]);

/** The WASI error code of anything thrown by Deno's file API; a code thrown by this room stays; else `io`. */
export function fileErrorOf(error: unknown): FileError {
  if (typeof error === "string" && CODES.has(error)) return error as FileError;
  if (!(error instanceof Error)) return "io";
  if (error instanceof Deno.errors.NotCapable) return "not-permitted";
  if (error instanceof Deno.errors.BadResource) return "bad-descriptor";
  if (error instanceof Deno.errors.WouldBlock) return "would-block";
  const named = BY_NAME.get(String((error as { code?: unknown }).code));
  if (named !== undefined) return named;
  const number = /\(os error (\d+)\)/.exec(error.message)?.[1];
  return (number === undefined ? undefined : BY_NUMBER.get(Number(number))) ?? "io";
}
