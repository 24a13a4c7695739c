import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const { chain_state: state } = JSON.parse(readFileSync(0, 'utf8'))
const steps = state.previous_outputs
const failed = steps.filter(({ status }) => status !== 'success').map(({ step }) => step)
const decision = failed.length === 0 ? 'deploy' : `hold: ${failed.join(', ')} failed`
const lines = [decision, ...steps.map(({ step, result }) => `- ${step}: ${result}`)]
writeFileSync(join(process.env.SKILLRAIL_SCRATCH, 'decision.md'), `${lines.join('\n')}\n`)
const status = failed.length === 0 ? 'success' : 'failure'
console.log(
  JSON.stringify({ status, result: decision, errors: [], metrics: { steps: steps.length } }),
)
