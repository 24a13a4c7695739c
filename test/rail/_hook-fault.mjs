// Loaded into the hook by `--import`, and without effect in the processes that the hook starts. HOOK_FAULT:
// `before` and `after` end the hook by SIGKILL before or after it replaces the state of a rail the first time;
// `throw` lets every such write fail.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const { renameSync } = fs
const fault = process.env.HOOK_FAULT
const isHook = process.argv[1]?.includes('hook-main') === true

fs.renameSync = (from, to) => {
  const isState = /[\\/]rails[\\/][0-9a-f]+\.json$/.test(String(to))
  if (!isHook || !isState) return renameSync(from, to)
  if (fault === 'throw') throw Object.assign(new Error('EIO: i/o error, rename'), { code: 'EIO' })
  if (fault === 'after') renameSync(from, to)
  process.kill(process.pid, 'SIGKILL')
}

syncBuiltinESMExports()
