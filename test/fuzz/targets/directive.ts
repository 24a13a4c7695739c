import {
  parseBatchText,
  parseChainText,
  parsePassthrough,
  readDirective,
  type DirectiveReading,
} from '../../../src/tools/index.ts'
import { endOfJson } from '../../../src/tools/call/json-in-text.ts'
import { demand, same, textOf } from '../target.ts'

export const name = 'directive'
export const seeds: readonly string[] = [
  'please BATCH: [{"tool":"a__b","params":{"x":1}},{"tool":"c"}] now',
  'CHAIN: [{"tool":"a__b","params":{},"output_as":"x"},{"tool":"c","params":{"y":"$x"}}]',
  '\ufeff [{"tool":"a__b","parms":{}}]',
  'BATCH: [{"tool":"a]","params":{"q":"]\\"}"}}] and CHAIN: [',
  'use demo__read_file with params {"path":"a"}. Then stop.',
  'run demo__list',
  'BATCH: [',
]
export const words: readonly string[] = [
  'BATCH: [',
  'CHAIN: [',
  '{"tool":"demo__list"}',
  '"params":{',
  '"output_as":"x"',
  'demo__read_file',
  ' with params {',
  '[{"',
  '"}]',
]

const tools = ['demo__list', 'demo__read_file'].map((id) => ({
  id,
  server: 'demo',
  name: id.slice(6),
  description: '',
  parameters: [],
  required: [],
}))

/** Nothing throws; what is given names its tools, and says the same when it is read again. */
export function fuzz(data: Uint8Array): void {
  const text = textOf(data)
  const batch = parseBatchText(text)
  const chain = parseChainText(text)
  for (const reading of [batch, chain, readDirective(text)]) checkReading(reading, text)
  if (batch.kind === 'chain' || chain.kind === 'batch') throw new Error('another kind than asked')
  const start = text.search(/[[{]/)
  const end = start < 0 ? undefined : endOfJson(text, start)
  if (start >= 0 && isJson(text.slice(start).trim())) {
    demand(end === text.trimEnd().length, 'another end than JSON has', end)
  }
  const passthrough = parsePassthrough(text, { tools })
  if (passthrough.kind === 'tool')
    demand(text.includes(passthrough.written), 'a tool that nobody named')
}

function checkReading(reading: DirectiveReading, text: string): void {
  if (reading.kind === 'none') return
  if (reading.kind === 'broken') {
    demand(reading.message.length > 0, 'a refusal without words')
    return
  }
  for (const { tool, params, outputAs } of reading.steps) {
    demand(tool !== '' && tool === tool.trim(), 'a step without tool', tool)
    demand(typeof params === 'object' && !Array.isArray(params), 'parameters that are none')
    demand(outputAs === undefined || /^[A-Za-z_]\w*$/.test(outputAs), 'a variable', outputAs)
    demand(reading.kind === 'chain' || outputAs === undefined, 'a variable in a batch')
  }
  const list = reading.steps.map(({ tool, params, outputAs }) => ({
    tool,
    params,
    output_as: outputAs,
  }))
  const parse = reading.kind === 'batch' ? parseBatchText : parseChainText
  const again = parse(JSON.stringify(list))
  demand(again.kind === reading.kind, 'not read again', text)
  const bare = reading.steps.map(({ notes: _notes, ...step }) => step)
  demand('steps' in again && same(again.steps, bare), 'not the same again', text)
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
