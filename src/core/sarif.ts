import { isAbsolute, relative, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { compareText, type Diagnostic, type Severity } from './errors.ts'
import { indentedJson } from './json.ts'
import { redactText } from './redact.ts'
import { packageVersion } from './runtime.ts'
import { safeText } from './text.ts'

export interface SarifRule {
  code: string
  severity: Severity
  sentence: string
  source?: string | undefined
}

const levels = { error: 'error', warning: 'warning', info: 'note' } as const

/** The schema that the OASIS standard publishes for this version. */
const schema =
  'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json'

/** Returns the {@link sarifLog} of Skillrail as text. */
export function sarifText(
  rules: readonly SarifRule[],
  diagnostics: readonly Diagnostic[],
  directory: string,
): string {
  const tool = { name: 'Skillrail', version: packageVersion(), rules }
  return indentedJson(sarifLog(tool, diagnostics, directory))
}

/**
 * Returns diagnostics as a SARIF 2.1.0 log, which GitHub code scanning and most editors show. It lists only
 * rules with results, by code. Paths below `directory` become relative, others `file:` addresses. Every
 * text is safe to print and contains no secret.
 */
export function sarifLog(
  tool: { name: string; version: string; rules: readonly SarifRule[] },
  diagnostics: readonly Diagnostic[],
  directory: string,
) {
  const codes = [...new Set(diagnostics.map(({ code }) => code))].toSorted(compareText)
  const ruleByCode = new Map(tool.rules.map((rule) => [rule.code, rule]))
  const rules = codes.map((code) => descriptor(code, ruleByCode.get(code)))
  const driver = { name: tool.name, semanticVersion: tool.version, rules }
  const indexes = new Map(codes.map((code, index) => [code, index]))
  const results = diagnostics.map((diagnostic) => ({
    ruleId: diagnostic.code,
    ruleIndex: indexes.get(diagnostic.code) ?? -1,
    ...resultOf(diagnostic, directory),
  }))
  const run = { tool: { driver }, columnKind: 'utf16CodeUnits', results }
  return { $schema: schema, version: '2.1.0', runs: [run] }
}

function descriptor(code: string, rule: SarifRule | undefined) {
  if (!rule) return { id: code }
  const { severity, sentence, source } = rule
  const isAddress = source?.startsWith('https://') === true
  return {
    id: code,
    shortDescription: { text: sentence },
    ...(source === undefined ? {} : isAddress ? { helpUri: source } : { help: { text: source } }),
    defaultConfiguration: { level: levels[severity] },
  }
}

function resultOf({ severity, message, hint, path, line, column }: Diagnostic, directory: string) {
  const text = hint === undefined ? message : `${message}\n${hint}`
  const region = { startLine: line, startColumn: column }
  const artifactLocation = { uri: uriOf(path, directory) }
  const physicalLocation = { artifactLocation, ...(line === undefined ? {} : { region }) }
  return {
    level: levels[severity],
    message: { text: safeText(redactText(text)) },
    locations: [{ physicalLocation }],
  }
}

function uriOf(path: string, directory: string): string {
  const way = isAbsolute(path) ? relative(directory, path) : path
  const isOutside = way === '' || isAbsolute(way) || way.split(sep)[0] === '..'
  if (isAbsolute(path) && isOutside) return pathToFileURL(path).href
  // A lone surrogate has no UTF-8 form, so it becomes the replacement character, as in a file: address.
  return way
    .split(sep)
    .map((part) => encodeURIComponent(part.replaceAll(/\p{Surrogate}/gu, '\ufffd')))
    .join('/')
}
