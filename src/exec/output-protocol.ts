import { errorsIn, messageOf } from '#core/errors'
import { deepestJson, isObject, plainText, tooDeepAt, type JsonValue } from '#core/json'
import { cutWithCount } from '#core/text'
import { printedText } from '#core/printed-text'
import { readYaml, yamlToJson } from '#skill/read-yaml'
import { lastOutputBlock } from './output-block.ts'
import { capturedText, type ProcessEnd, type ProcessResult } from './process.ts'

interface OutputSource extends ProcessResult {
  file?: string | undefined
}

/**
 * Returns the output of a script, from the first of these that exists: its output file, the last
 * `output:` block or JSON object with a `status` on stdout, its exit code with the last printed line. A
 * reported success with an exit code other than 0 is a failure. Never throws.
 */
export function readOutput(source: OutputSource): StepOutput {
  return reportedOutput(source, 'the script') ?? fromExitCode(codeOf(source.end), source)
}

/** Returns the last output block of an agent's answer; the error `output-missing` without one. Never throws. */
export function readAgentOutput(source: OutputSource, name: string): StepOutput {
  const code = codeOf(source.end)
  const output =
    reportedOutput(source, name) ??
    (code === 0
      ? failedOutput('output-missing', `${name} answered without an output block`)
      : fromExitCode(code, source))
  return { ...output, evidence: 'self-reported' }
}

function codeOf(end: ProcessEnd): number {
  return end.kind === 'exit' ? end.code : 1
}

/** Returns the output that a program reports, or why it could not; undefined if it reports nothing. */
function reportedOutput(source: OutputSource, subject: string): StepOutput | undefined {
  const interruption = endedBadly(source.end, subject)
  if (interruption) return interruption
  const report = findReport(source)
  if (report !== undefined) return checkExitCode(parseOutput(report), codeOf(source.end), subject)
  return isCutOff(source.stdout) ? tooLarge('its output') : undefined
}

function checkExitCode(output: StepOutput, code: number, subject: string): StepOutput {
  if (code === 0 || output.status !== 'success') return output
  const message = `${subject} reported success but ended with exit code ${code}`
  const errors = [...output.errors, { code: 'exit-code', message }]
  return { ...output, status: 'failure', errors }
}

/**
 * Parses an output in the standard form (`status`, `result`, `errors`, `metrics`, with or without the
 * key `output` around them) from JSON or YAML. Anything else is a failure `output-malformed` that
 * contains the errors.
 */
export function parseOutput(text: string): StepOutput {
  try {
    const value = parseValue(text)
    const root = isObject(value) ? value : undefined
    const fields = isObject(root?.['output']) ? root['output'] : root
    if (!fields) throw new MalformedOutput('it is not a mapping')
    return readFields(fields)
  } catch (error) {
    if (!(error instanceof MalformedOutput)) throw error
    const problem = cutWithCount(error.message, 1000)
    return failedOutput('output-malformed', `the output of the skill is malformed: ${problem}`)
  }
}

class MalformedOutput extends Error {}

const maxYamlCharacters = 65_536
/** Maximum bytes of a result; larger data goes through files. */
const maxResultBytes = 1_048_576
const maxEntries = 1000

function endedBadly(end: ProcessEnd, subject: string): StepOutput | undefined {
  if (end.kind === 'exit') return undefined
  const code = end.kind === 'limit' ? 'limit-exceeded' : end.kind
  return failedOutput(code, `${subject} ${howItEnded(end)}`)
}

function howItEnded(end: Exclude<ProcessEnd, { kind: 'exit' }>): string {
  if (end.kind === 'signal') return `was killed by ${end.signal}`
  if (end.kind === 'timeout') return 'did not finish in time'
  if (end.kind === 'aborted') return 'was stopped before it finished'
  if (end.kind === 'limit') return `was stopped because ${end.message}`
  return `could not be started: ${end.message}`
}

function findReport(source: OutputSource): string | undefined {
  if (source.file !== undefined && source.file.trim() !== '') return source.file
  const { head, tail, droppedBytes } = source.stdout
  if (droppedBytes === 0) return lastOutputBlock(head)
  // If the middle is missing, the last block is at the end. Without a block there, one from the
  // beginning counts: later output must not turn a failure into a success. A cut line is ignored.
  const wholeLines = head.slice(0, head.lastIndexOf('\n') + 1)
  return (
    lastOutputBlock(tail) ?? (isCutOff(source.stdout) ? undefined : lastOutputBlock(wholeLines))
  )
}

/** Whether the start of the last line, object or block is in the missing part. */
function isCutOff({ head, tail, droppedBytes }: OutputSource['stdout']): boolean {
  if (droppedBytes === 0) return false
  const lines = tail.trimEnd().split('\n')
  // A tail starts with a whole line, unless the last line is longer than the tail.
  if (tail.trim() === '') return true
  if (!tail.includes('\n')) return Buffer.byteLength(tail) >= Buffer.byteLength(head) - 4
  if (lines.at(-1) === '}') return !lines.includes('{')
  return /^output:/m.test(head) && lines.every((line) => /^(?:\s|$)/.test(line))
}

function tooLarge(subject: string): StepOutput {
  const message = `${subject} is larger than ${maxResultBytes} bytes; write it to a file in the directory SKILLRAIL_SCRATCH and return its path in artifacts`
  return failedOutput('result-too-large', message)
}

/** An output is never shortened: one that is too large is a failure. */
function withinLimit(output: StepOutput): StepOutput {
  const { result, errors, metrics, artifacts } = output
  if (Buffer.byteLength(result) > maxResultBytes) return tooLarge('the result')
  const otherFields = JSON.stringify({ errors, metrics, artifacts })
  return Buffer.byteLength(otherFields) > maxResultBytes ? tooLarge('the output') : output
}

function fromExitCode(code: number, source: OutputSource): StepOutput {
  const lastLine =
    printedText(capturedText(source.stdout)).trimEnd().split('\n').at(-1)?.trim() ?? ''
  if (code === 0) {
    const result = { result: lastLine, errors: [], metrics: {} }
    return withinLimit({ status: 'success', ...result, evidence: 'exit-code' })
  }
  const errorLine = lastErrorLine(printedText(capturedText(source.stderr)))
  const reason = cutWithCount(errorLine || lastLine, 2000)
  const message = reason === '' ? `exit code ${code}` : `exit code ${code}: ${reason}`
  return { ...failedOutput('exit-code', message), result: reason || message }
}

function parseValue(text: string): unknown {
  const content = text.trim()
  let notJson: string | undefined
  if (content.startsWith('{')) {
    if (tooDeepAt(content) !== undefined)
      throw new MalformedOutput(`it is nested deeper than ${deepestJson} levels`)
    try {
      return JSON.parse(content)
    } catch (error) {
      // A YAML flow mapping starts like JSON.
      notJson = `its JSON cannot be read: ${messageOf(error)}`
    }
  }
  if (content.length > maxYamlCharacters)
    throw new MalformedOutput(
      `it is longer than ${maxYamlCharacters} characters; above that only JSON is read`,
    )
  const { root, diagnostics } = readYaml(`${content}\n`, { firstLine: 1, path: 'output' })
  const [error] = errorsIn(diagnostics)
  if (error) throw new MalformedOutput(notJson ?? error.message)
  if (!root) throw new MalformedOutput('it is empty')
  return yamlToJson(root)
}

function readFields(fields: Record<string, unknown>): StepOutput {
  const { status, result, errors, metrics, artifacts } = fields
  if (status !== 'success' && status !== 'failure' && status !== 'critical') {
    const value = status === null || status === '' ? 'empty' : cutWithCount(asText(status), 200)
    const problem = status === undefined ? 'it has no status' : `its status is ${value}`
    throw new MalformedOutput(`${problem}; allowed are success, failure and critical`)
  }
  const paths = readArtifacts(artifacts)
  return withinLimit({
    status,
    result: asText(result),
    errors: readErrors(errors),
    metrics: readMetrics(metrics),
    ...(paths.length === 0 ? {} : { artifacts: paths }),
    evidence: 'exit-code',
  })
}

function readArtifacts(value: unknown): readonly string[] {
  if (isEmpty(value)) return []
  const paths = [value].flat()
  const isUsable = paths.length <= maxEntries && paths.every((path) => typeof path === 'string')
  if (!isUsable) throw new MalformedOutput('its artifacts are not a list of paths')
  return paths
}

function readErrors(value: unknown): readonly ReportedError[] {
  if (isEmpty(value)) return []
  if (typeof value === 'string') return [{ code: 'reported', message: value }]
  if (!Array.isArray(value)) throw new MalformedOutput('its errors are not a list')
  if (value.length > maxEntries) throw new MalformedOutput(`it has more than ${maxEntries} errors`)
  return value.map(readError)
}

function readError(item: unknown): ReportedError {
  if (!isObject(item)) return { code: 'reported', message: asText(item) }
  const { code, message } = item
  return {
    code: typeof code === 'string' && code !== '' ? code : 'reported',
    message: message === undefined ? JSON.stringify(item) : asText(message),
  }
}

function readMetrics(value: unknown): StepOutput['metrics'] {
  if (isEmpty(value)) return {}
  if (!isObject(value)) throw new MalformedOutput('its metrics are not a mapping')
  const entries = Object.entries(value)
  if (entries.length > maxEntries)
    throw new MalformedOutput(`it has more than ${maxEntries} metrics`)
  if (Object.hasOwn(value, '__proto__'))
    throw new MalformedOutput('its metrics have a key __proto__')
  // JSON has no form for Infinity and NaN, which YAML has.
  return Object.fromEntries(
    entries.map(([name, metric]) => [name, JSON.parse(JSON.stringify(metric ?? null))]),
  )
}

function isEmpty(value: unknown): value is undefined | null | '' {
  return value === undefined || value === null || value === ''
}

function asText(value: unknown): string {
  if (value === undefined || value === null) return ''
  return plainText(value)
}

/** Returns the last line of stderr; for an uncaught error in Node, the line above its stack. */
export function lastErrorLine(stderr: string): string {
  const lines = stderr.trimEnd().split('\n')
  const last = lines.at(-1) ?? ''
  if (!/^Node\.js v\d/.test(last)) return last.trim()
  const linesAbove = lines.slice(0, -1)
  const error = linesAbove.findLast((line) =>
    /^(?:Uncaught )?[\w$.]*(?:Error|Exception)\b/.test(line),
  )
  const message = error ?? linesAbove.findLast((line) => !/^(?:\s|\}|\(Use `node |$)/.test(line))
  return (message ?? last).trim()
}

/** The status of a finished skill. `failure` and `critical` both count as failed. */
export type StepStatus = 'success' | 'failure' | 'critical'

/**
 * What confirms a result: the exit code of a script, a check that passed, only the agent, or a user who
 * accepted the result although its check failed.
 */
export type Evidence = 'exit-code' | 'verified' | 'self-reported' | 'accepted'

export interface ReportedError {
  code: string
  message: string
}

export interface StepOutput {
  status: StepStatus
  result: string
  errors: readonly ReportedError[]
  metrics: Readonly<Record<string, JsonValue>>
  evidence: Evidence
  /** Files of its check that changed during a rail: the agent may have changed its own check. */
  changedFiles?: readonly string[] | undefined
  /** Files in `SKILLRAIL_SCRATCH`, as the step names them: absolute, or relative to that directory. */
  artifacts?: readonly string[] | undefined
}

export function failedOutput(code: string, message: string): StepOutput {
  const errors = [{ code, message }]
  return { status: 'failure', result: message, errors, metrics: {}, evidence: 'exit-code' }
}
