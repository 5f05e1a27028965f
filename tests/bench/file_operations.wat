;; Does one file operation COUNT times, by the function $OPERATION, on `bench.bin` (4096 bytes) in the first preopen
;; that has it, or three folders below. OPERATION and COUNT are replaced before the text is read. Returns ok when every operation was.
(module
  (import "wasi:filesystem/preopens@VERSION" "get-directories" (func $get_directories (param i32)))
  (import "wasi:filesystem/types@VERSION" "[method]descriptor.open-at"
    (func $open_at (param i32 i32 i32 i32 i32 i32 i32)))
  (import "wasi:filesystem/types@VERSION" "[method]descriptor.stat-at" (func $stat_at (param i32 i32 i32 i32 i32)))
  (import "wasi:filesystem/types@VERSION" "[method]descriptor.read" (func $read (param i32 i64 i64 i32)))
  (import "wasi:filesystem/types@VERSION" "[method]descriptor.write" (func $write (param i32 i32 i32 i64 i32)))
  (import "wasi:filesystem/types@VERSION" "[resource-drop]descriptor" (func $drop (param i32)))
  (memory (export "memory") 2)
  (data (i32.const 512) "bench.bin")
  (data (i32.const 528) "a/b/c/bench.bin")
  (global $next (mut i32) (i32.const 8192))
  (global $folder (mut i32) (i32.const 0))
  (global $file (mut i32) (i32.const 0))
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
    (local $at i32)
    (local.set $at (i32.and (i32.add (global.get $next) (i32.const 7)) (i32.const -8)))
    (global.set $next (i32.add (local.get $at) (local.get 3)))
    (local.get $at))
  ;; Opens `bench.bin` in $folder for reading and writing; the result lies at 128.
  (func $open_file
    (call $open_at (global.get $folder) (i32.const 1) (i32.const 512) (i32.const 9) (i32.const 0) (i32.const 3)
      (i32.const 128)))
  (func $find_file
    (local $entry i32) (local $end i32)
    (call $get_directories (i32.const 64))
    (local.set $entry (i32.load (i32.const 64)))
    (local.set $end (i32.add (local.get $entry) (i32.mul (i32.load (i32.const 68)) (i32.const 12))))
    (loop $next_entry
      (if (i32.ge_u (local.get $entry) (local.get $end)) (then (unreachable)))
      (global.set $folder (i32.load (local.get $entry)))
      (call $open_file)
      (local.set $entry (i32.add (local.get $entry) (i32.const 12)))
      (br_if $next_entry (i32.load8_u (i32.const 128))))
    (global.set $file (i32.load (i32.const 132))))
  (func $open_and_close
    (call $open_file)
    (call $drop (i32.load (i32.const 132))))
  (func $open_and_close_deep
    (call $open_at (global.get $folder) (i32.const 1) (i32.const 528) (i32.const 15) (i32.const 0) (i32.const 3)
      (i32.const 128))
    (call $drop (i32.load (i32.const 132))))
  (func $stat_path_deep
    (call $stat_at (global.get $folder) (i32.const 1) (i32.const 528) (i32.const 15) (i32.const 128)))
  (func $stat_path
    (call $stat_at (global.get $folder) (i32.const 1) (i32.const 512) (i32.const 9) (i32.const 128)))
  (func $read_file
    (local $opened i32)
    (call $open_file)
    (local.set $opened (i32.load (i32.const 132)))
    (call $read (local.get $opened) (i64.const 4096) (i64.const 0) (i32.const 128))
    (call $drop (local.get $opened)))
  (func $write_file
    (local $opened i32)
    (call $open_file)
    (local.set $opened (i32.load (i32.const 132)))
    (call $write (local.get $opened) (i32.const 4096) (i32.const 4096) (i64.const 0) (i32.const 128))
    (call $drop (local.get $opened)))
  (func $read_4096
    (call $read (global.get $file) (i64.const 4096) (i64.const 0) (i32.const 128)))
  (func $write_4096
    (call $write (global.get $file) (i32.const 4096) (i32.const 4096) (i64.const 0) (i32.const 128)))
  (func (export "wasi:cli/run@VERSION#run") (result i32)
    (local $left i32) (local $failed i32)
    (call $find_file)
    (local.set $left (i32.const COUNT))
    (block $done
      (loop $again
        (br_if $done (i32.eqz (local.get $left)))
        (global.set $next (i32.const 8192))
        (call $OPERATION)
        (local.set $failed (i32.or (local.get $failed) (i32.load8_u (i32.const 128))))
        (local.set $left (i32.sub (local.get $left) (i32.const 1)))
        (br $again)))
    (local.get $failed)))
