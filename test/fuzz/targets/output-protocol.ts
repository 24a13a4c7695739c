import {
  parseOutput,
  readAgentOutput,
  readOutput,
  type StepOutput,
} from '../../../src/exec/output-protocol.ts'
import { lastOutputBlock } from '../../../src/exec/output-block.ts'
import { choiceAndText, demand, same } from '../target.ts'

export const name = 'output-protocol'
const deep = 5000
export const seeds: readonly string[] = [
  '0log line\noutput:\n  status: success\n  result: done\n  metrics: {a: 1}\n',
  '1{"status":"failure","errors":[{"code":"x","message":"y"}],"metrics":{"n":1.5}}\n',
  '2```yaml\noutput:\n  status: critical\n  errors:\n    - code: a\n      message: b\n```\n',
  '3{"output":{"status":"success","result":{"a":[1]}}}\ntrailing words\n',
  '4output: {status: success, metrics: {a: .nan, b: .inf}}\n',
  `5{"status":"success","result":${'['.repeat(deep)}${']'.repeat(deep)}}`,
  '6{"status":"success","metrics":{"__proto__":{"a":1},"constructor":2}}',
]
export const words: readonly string[] = [
  'output:',
  '\n  status: success',
  '"status":"success"',
  '\n  errors:\n    - ',
  '\n  metrics:\n    a: ',
  '```\n',
  '{"',
  '"}',
  '__proto__',
]

const maxCharacters = 66_000

/** Never throws; a status of the three, lengths within their bounds, no success of a bad exit code. */
export function fuzz(data: Uint8Array): void {
  const { choice, text } = choiceAndText(data)
  const code = choice % 4 === 0 ? 0 : choice % 4
  const stdout = { head: text, tail: '', droppedBytes: 0 }
  const end = { kind: 'exit', code } as const
  const source = choice % 3 === 2 ? { ...nothing, file: text, end } : { ...nothing, stdout, end }
  for (const output of [readOutput(source), readAgentOutput(source, 'agent'), parseOutput(text)]) {
    checkForm(output)
    demand(same(parseOutput(JSON.stringify(output)), said(output)), 'not the same again', output)
  }
  const output = readOutput(source)
  demand(code === 0 || output.status !== 'success', 'a success of a bad exit code', output)
  const agent = readAgentOutput(source, 'agent')
  demand(agent.evidence === 'self-reported', 'evidence of an agent', agent)
  demand(code === 0 || agent.status !== 'success', 'a success of a bad exit code', agent)
  const block = lastOutputBlock(text)
  if (block !== undefined) demand(block.length <= text.length + 1, 'a block of nothing')
}

const empty = { head: '', tail: '', droppedBytes: 0 }
const nothing = { stdout: empty, stderr: empty }

function checkForm(output: StepOutput): void {
  const { status, result, errors, metrics } = output
  demand(['success', 'failure', 'critical'].includes(status), 'a status', status)
  demand(typeof result === 'string' && result.length <= maxCharacters, 'a result')
  demand(errors.length <= 1001, 'too many errors', errors.length)
  for (const error of errors) {
    demand(typeof error.code === 'string' && error.code !== '', 'an error without code', error)
    demand(typeof error.message === 'string', 'an error without message', error)
  }
  demand(!Object.hasOwn(metrics, '__proto__'), 'a metric of the prototype')
  demand(Object.getPrototypeOf(metrics) === Object.prototype, 'another prototype')
}

function said(output: StepOutput): StepOutput {
  return { ...output, evidence: 'exit-code' }
}
