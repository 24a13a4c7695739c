import {
  blankObjects,
  type Directive,
  endOfJson,
  parseDirective,
  readDirective,
  readJsonIn,
} from '../../../src/tools/call/directive-text.ts'
import { ToolRequestError } from '../../../src/tools/errors.ts'
import { parsePassthrough, writtenNames } from '../../../src/tools/call/passthrough.ts'
import { demand, same, textOf } from '../target.ts'

export const name = 'directive'
export const seeds: readonly string[] = [
  'please BATCH: [{"tool":"a__b","params":{"x":1}},{"tool":"c"}] now',
  'CHAIN: [{"tool":"a__b","params":{},"output_as":"x"},{"tool":"c","params":{"y":"$x"}}]',
  '\ufeff [{"tool":"a__b","parms":{}}]',
  'BATCH: [{"tool":"a]","params":{"q":"]\\"}"}}] and CHAIN: [',
  'use demo__read_file with params {"path":"a"}. Then stop.',
  'run demo__list',
  'With {"path":"a"} call read_file, then tool:demo__list {} and ```json\n{"a":{"b":1}}\n```',
  '{{{ {"note":"call demo__list"} demo:read_file with the following parameters: {"path":"a"}',
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
  '{"a":1}',
  ' and call ',
  ' with the following json parameters: ',
  '```json\n',
]

const tools = ['demo__list', 'demo__read_file'].map((id) => ({
  id,
  server: 'demo',
  name: id.slice(6),
  description: '',
  parameters: [],
  required: [],
}))

/** A text is read or refused; the result names its tools, and is the same after a second reading. */
export function fuzz(data: Uint8Array): void {
  const text = textOf(data)
  for (const kind of ['batch', 'chain'] as const) {
    const steps = refused(() => parseDirective(text, kind))
    if (steps !== undefined) checkReading({ kind, steps }, text)
  }
  const reading = refused(() => readDirective(text))
  if (reading !== undefined) checkReading(reading, text)
  const start = text.search(/[[{]/)
  const end = start < 0 ? undefined : endOfJson(text, start)
  if (start >= 0 && isJson(text.slice(start).trim())) {
    demand(end === text.trimEnd().length, 'another end than JSON has', end)
  }
  checkNames(text)
  const passthrough = refused(() => parsePassthrough(text, { tools }))
  if (passthrough?.kind === 'tool')
    demand(text.includes(passthrough.written), 'a tool that nobody named')
}

/** The text contains the results in order, and no name is part of text that was read as JSON. */
function checkNames(text: string): void {
  const objects = readJsonIn(text).objects
  let read = 0
  for (const { start, end, value } of objects) {
    demand(read <= start && start < end && end <= text.length, 'an object at no place of the text')
    demand(same(JSON.parse(text.slice(start, end)), value), 'another object than is written')
    read = end
  }
  const outside = blankObjects(text, objects)
  for (const { token, opening } of writtenNames(text)) {
    demand(outside.includes(token), 'a name that is not outside of JSON', token)
    demand(opening === undefined || text[opening] === '{', 'parameters that begin with no brace')
  }
}

/** The result; undefined if the text is refused. */
function refused<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof ToolRequestError)) throw error
    demand(error.message.length > 0, 'a refusal without words')
    return undefined
  }
}

function checkReading(reading: Directive, text: string): void {
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
  const again = parseDirective(JSON.stringify(list), reading.kind)
  const bare = reading.steps.map(({ notes: _notes, ...step }) => step)
  demand(same(again, bare), 'not the same again', text)
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
