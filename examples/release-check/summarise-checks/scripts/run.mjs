import { readFileSync } from 'node:fs'

const { chain_state: state } = JSON.parse(readFileSync(0, 'utf8'))
const steps = state.previous_outputs
const failed = steps.filter(({ status }) => status !== 'success')
const verdict = failed.length === 0 ? 'ready for a release' : `${failed.length} checks failed`

console.log(
  JSON.stringify({
    status: failed.length === 0 ? 'success' : 'failure',
    result: `${verdict}: ${steps.map(({ result }) => result).join('; ')}`,
    metrics: { checks: steps.length },
  }),
)
