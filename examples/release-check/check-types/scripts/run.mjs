import { spawnSync } from 'node:child_process'

const compiler = 'node_modules/typescript/bin/tsc'
const { status, stdout } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.json'], {
  encoding: 'utf8',
})
const errors = stdout.split('\n').filter((line) => line.includes('error TS'))

console.log(
  JSON.stringify({
    status: status === 0 ? 'success' : 'failure',
    result: status === 0 ? 'the sources type-check' : `${errors.length} type errors`,
    errors: errors.slice(0, 5).map((message) => ({ code: 'type-error', message })),
    metrics: { type_errors: errors.length },
  }),
)
