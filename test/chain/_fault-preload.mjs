// Loaded into the real command line by `--import`: breaks its journal in a chosen moment.
// FAULT=kill:N ends the process by SIGKILL right after the Nth record is on the disk, also in the
// middle of records that are written in one go; FAULT=full:N lets the Nth record, and all later
// ones, fail as on a full disk, half written.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const [kind, count] = (process.env.FAULT ?? '').split(':')
const { fdatasyncSync, writeSync } = fs
let left = Number(count)

fs.writeSync = (descriptor, data, ...rest) => {
  const isJournal = Buffer.isBuffer(data) && data.subarray(0, 9).toString() === '{"type":"'
  if (!isJournal || (kind !== 'kill' && kind !== 'full')) {
    return writeSync(descriptor, data, ...rest)
  }
  const lines = data.toString().split(/(?<=\n)/)
  if (lines.length < left) {
    left -= lines.length
    return writeSync(descriptor, data, ...rest)
  }
  const whole = lines.slice(0, kind === 'kill' ? left : left - 1)
  if (kind === 'kill') {
    writeSync(descriptor, whole.join(''))
    fdatasyncSync(descriptor)
    process.kill(process.pid, 'SIGKILL')
  }
  const half = lines[whole.length].slice(0, lines[whole.length].length / 2)
  writeSync(descriptor, whole.join('') + half)
  left = 1
  throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
}

syncBuiltinESMExports()
