// Loaded into the real command line by `--import`: breaks its journal in a chosen moment.
// FAULT=kill:N ends the process by SIGKILL right after the Nth record is on the disk;
// FAULT=full:N lets the Nth record, and all later ones, fail as on a full disk, half written.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const [kind, count] = (process.env.FAULT ?? '').split(':')
let syncs = 0
let records = 0
const { fdatasyncSync, writeSync } = fs

fs.fdatasyncSync = (descriptor) => {
  fdatasyncSync(descriptor)
  if (++syncs === Number(count) && kind === 'kill') process.kill(process.pid, 'SIGKILL')
}

fs.writeSync = (descriptor, data, ...rest) => {
  const isRecord = Buffer.isBuffer(data) && data.subarray(0, 9).toString() === '{"type":"'
  if (kind === 'full' && isRecord && ++records >= Number(count)) {
    writeSync(descriptor, data, 0, Math.floor(data.length / 2))
    throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
  }
  return writeSync(descriptor, data, ...rest)
}

syncBuiltinESMExports()
