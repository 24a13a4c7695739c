#!/usr/bin/env node
// Usage: node quick_validate.mjs DIRECTORY…
// Says whether the skill in each directory is valid, as `skillrail validate` does, without anything
// installed. Needs Node 20 or newer. Exit code 0: all valid; 1: one is not; 2: wrong use.
import { isUtf8 } from 'node:buffer'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { readFrontmatter } from './frontmatter.mjs'

const choices = {
  context: ['fork'],
  early_exit_on: ['none', 'failure', 'success', 'critical'],
  retry_until: ['none', 'stable', 'success'],
}
const leastNumbers = { timeout: 0, max_depth: 1, parallel_limit: 1, retry_count: 1 }
const policyFlags = [
  'async',
  'continue_on_error',
  'validate_on_load',
  'cleanup_after',
  'continue_on_success',
  'pass_state',
  'race_mode',
]
const policies = policyFlags.concat(Object.keys(leastNumbers), 'early_exit_on', 'retry_until')
const extensions = [
  'triggers',
  'run',
  'model',
  'context',
  'agent',
  'disable-model-invocation',
  'user-invocable',
  'argument-hint',
  'arguments',
  'hooks',
]

/** The problems of the skill in a directory, or of a SKILL.md: sentences, none if it is valid. */
export function validateSkillDirectory(path) {
  const file = statSync(path).isDirectory() ? skillFile(path) : path
  if (file === undefined) return [`${path} has no SKILL.md`]
  if (!statSync(file).isFile()) return [`${file} is no file`]
  return validateBytes(readFileSync(file), basename(dirname(resolve(file))))
}

function skillFile(directory) {
  return ['SKILL.md', 'skill.md']
    .map((name) => join(directory, name))
    .find((file) => existsSync(file))
}

/** The same for the content of a SKILL.md that lies in a directory of this name. */
export function validateBytes(bytes, directoryName) {
  if (bytes.length > 1024 * 1024) return ['the file is larger than 1 MiB']
  if (!isUtf8(bytes)) return ['the file is not UTF-8 text']
  const text = bytes.toString('utf8')
  if (text.includes('\0')) return ['the file contains a NUL character']
  let root
  try {
    root = readFrontmatter(text)
  } catch (error) {
    return [error.message]
  }
  const problems = []
  const report = (message) => problems.push(message)
  checkName(root.get('name'), directoryName, report)
  checkDescription(root.get('description'), report)
  checkCompatibility(root.get('compatibility'), report)
  checkText('license', root.get('license'), report)
  checkTools(root.get('allowed-tools'), report)
  const metadata = root.get('metadata')
  if (!isNull(metadata) && !(metadata instanceof Map)) report('metadata must be a map')
  checkExtensions(root, metadata instanceof Map ? metadata : new Map(), report)
  return problems
}

function isNull(node) {
  return (
    node === undefined ||
    (isScalar(node) && node.plain && /^(?:~|null|Null|NULL)?$/.test(node.text))
  )
}

function isScalar(node) {
  return typeof node?.text === 'string'
}

function checkText(field, node, report) {
  if (node !== undefined && !isScalar(node)) report(`${field} must be a text`)
  return isScalar(node) && !isNull(node) ? node.text.trim() : ''
}

function checkName(node, directoryName, report) {
  const written = checkText('name', node, report)
  if (node !== undefined && !isScalar(node)) return
  if (written === '') return report('name is missing')
  const name = written.normalize('NFKC').trim()
  if ([...name].length > 64) report('name has more than 64 characters')
  if (name !== name.toLowerCase()) report('name must be lower case')
  if (/^-|-$/.test(name)) report('name must not begin or end with a hyphen')
  if (name.includes('--')) report('name must not have two hyphens in a row')
  if (/[^\p{L}\p{N}-]/u.test(name)) report('name may contain a-z, 0-9 and hyphens')
  if (directoryName.normalize('NFKC') !== name) {
    report(`name is ${name}, but the directory is ${directoryName}`)
  }
}

function checkDescription(node, report) {
  const description = checkText('description', node, report)
  if (node !== undefined && !isScalar(node)) return
  if (description === '') report('description is missing')
  else if ([...node.text].length > 1024) report('description has more than 1024 characters')
}

function checkCompatibility(node, report) {
  const compatibility = checkText('compatibility', node, report)
  if (!isScalar(node)) return
  if (compatibility === '') report('compatibility is empty')
  else if ([...node.text].length > 500) report('compatibility has more than 500 characters')
}

function checkTools(node, report) {
  if (isNull(node)) return
  const items = isScalar(node) ? [node] : node
  if (!Array.isArray(items) || !items.every(isScalar)) return report('allowed-tools must be a text')
  for (const { text } of items) {
    let depth = 0
    for (const character of text) {
      if (character === '(') depth++
      if (character === ')' && --depth < 0) break
    }
    if (depth !== 0) return report('allowed-tools has a parenthesis that is not closed')
  }
}

function checkExtensions(root, metadata, report) {
  const hasChain = metadata.has('chain')
  for (const [key, node] of metadata) {
    const isOurs = extensions.includes(key) || key === 'chain'
    const isPolicy = hasChain && (policies.includes(key) || key === 'gates')
    if (!isScalar(node) && !isOurs && !isPolicy) report(`metadata.${key} must be a text`)
  }
  for (const field of extensions) {
    const node = root.get(field) ?? metadata.get(field)
    if (!isNull(node)) checkExtension(field, node, report)
  }
  if (hasChain) checkChain(metadata, report)
}

function checkExtension(field, node, report) {
  if (field === 'triggers') checkTriggers(node, report)
  else if (field === 'hooks') checkHooks(node, report)
  else if (field === 'arguments') checkArguments(node, report)
  else if (field === 'context') checkChoice(field, node, report)
  else if (field === 'argument-hint' && node.flow && node.every(isScalar)) return
  else if (field === 'disable-model-invocation' || field === 'user-invocable') {
    checkFlag(field, node, report)
  } else {
    const text = checkText(field, node, report)
    if (field === 'run' && text !== '') checkPath('run', text, report)
  }
}

function checkPath(field, path, report) {
  const isAbsolute = path.startsWith('/') || /^[a-z]:/i.test(path)
  if (isAbsolute || path.includes('\\') || path.split('/').includes('..')) {
    report(`${field}: ${path} must be a relative path inside the skill`)
  }
}

function checkFlag(field, node, report) {
  const words = ['true', 'yes', 'on', '1', 'false', 'no', 'off', '0']
  if (!isScalar(node) || !words.includes(node.text.trim().toLowerCase())) {
    report(`${field} must be true or false`)
  }
}

function checkChoice(field, node, report) {
  const text = checkText(field, node, report)
  if (text !== '' && !choices[field].includes(text)) {
    report(`${field} must be one of ${choices[field].join(', ')}`)
  }
}

function checkNumber(field, node, report) {
  const text = isScalar(node) ? node.text.trim() : ''
  const hexadecimal = /^0(?:x[0-9a-f]+|o[0-7]+)$/i
  const decimal = /^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:e[-+]?\d+)?$/i
  const isNumber = node.plain && (decimal.test(text) || hexadecimal.test(text))
  const number = isNumber || /^[+-]?\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (!Number.isSafeInteger(number) || number < leastNumbers[field]) {
    report(`${field} must be a whole number from ${leastNumbers[field]}`)
  }
}

/** The words of a list or of one text; undefined where it is neither. */
function words(field, node, report) {
  if (isNull(node)) return []
  if (isScalar(node)) return node.text.split(/[\s,]+/).filter((word) => word !== '')
  if (Array.isArray(node) && node.every((item) => isScalar(item) && item.text.trim() !== '')) {
    return node.map((item) => item.text.trim())
  }
  report(`${field} must be a list of names`)
  return undefined
}

const argumentName = /^[A-Za-z_][A-Za-z0-9_-]*$/

function checkArguments(node, report) {
  const names = words('arguments', node, report) ?? []
  if (!names.every((name) => argumentName.test(name) && name !== 'ARGUMENTS'))
    report('arguments has an entry that is no name')
  if (new Set(names).size !== names.length) report('arguments has a name twice')
}

function checkHooks(node, report) {
  if (node instanceof Map) return
  try {
    const value = isScalar(node) ? JSON.parse(node.text) : undefined
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return
  } catch {
    // Reported below.
  }
  report('hooks must be a map')
}

function checkTriggers(node, report) {
  if (isScalar(node)) {
    const pattern = /^(.*\S.*) => (.*\S.*)$/
    for (const line of node.text.split('\n').filter((text) => text.trim() !== '')) {
      const inject = pattern.exec(line)?.[2]?.trim()
      if (inject === undefined) report(`triggers: ${line.trim()} is no PATTERN => FILE`)
      else checkPath('triggers', inject, report)
    }
    return
  }
  if (!Array.isArray(node)) return report('triggers must be a list')
  for (const item of node) {
    const match = item instanceof Map ? item.get('match') : undefined
    const inject = item instanceof Map ? item.get('inject') : undefined
    if (!isScalar(match) || !isScalar(inject) || match.text === '' || inject.text === '') {
      report('every trigger needs a match and an inject')
    } else checkPath('triggers', inject.text, report)
  }
}

function checkChain(metadata, report) {
  const chain = metadata.get('chain')
  const steps =
    Array.isArray(chain) || chain?.literal === true
      ? stepsOf(chain, report)
      : words('chain', chain, report)
  if (steps === undefined) return
  for (const step of steps) {
    checkPath('chain', step, report)
    if (step.split('/').some((part) => part === '' || part === '.')) {
      report(`chain: ${step} is no name of a skill`)
    }
  }
  for (const [field, node] of metadata) {
    if (isNull(node)) continue
    if (policyFlags.includes(field)) checkFlag(field, node, report)
    else if (field in leastNumbers) checkNumber(field, node, report)
    else if (field === 'early_exit_on' || field === 'retry_until') checkChoice(field, node, report)
  }
  for (const gate of words('gates', metadata.get('gates'), report) ?? []) {
    if (!steps.includes(gate)) report(`gates: ${gate} is no step of the chain`)
  }
}

const stepWord = /\s*(?:(?<=^|\s)#.*|(&)|((?:[^\s&"]|"(?:[^"\\]|\\.)*")+))/y
const stepOption =
  /^(?:gate|always|allow-failure|(?:retry|backoff|timeout|when|id|args)=(?:"[^]*"|[^"]+))$/

/** The names of steps that stand one a line, with options. */
function stepsOf(chain, report) {
  const lines = Array.isArray(chain) ? chain : chain.text.split('\n').map((text) => ({ text }))
  return lines.flatMap((line) => {
    if (line instanceof Map) return [...line.keys()]
    /** @type {string[][]} */
    const members = [[]]
    const text = line.text.trimEnd()
    for (stepWord.lastIndex = 0; stepWord.lastIndex < text.length;) {
      const found = stepWord.exec(text)
      if (found === null) {
        report(`chain: ${text} has an open quote`)
        break
      }
      if (found[1] !== undefined) members.push([])
      else if (found[2] !== undefined) members.at(-1).push(found[2])
    }
    for (const option of members.flatMap((member) => member.slice(1))) {
      if (!stepOption.test(option)) report(`chain: ${option} is not an option of a step`)
    }
    const isEmpty = members.length === 1 && members[0].length === 0
    return isEmpty ? [] : members.map(([name = '']) => name)
  })
}

function main(paths) {
  if (paths.length === 0) {
    process.stderr.write('Usage: node quick_validate.mjs DIRECTORY…\n')
    return 2
  }
  let code = 0
  for (const path of paths) {
    if (!existsSync(path)) {
      process.stderr.write(`${path} does not exist\n`)
      return 2
    }
    const problems = validateSkillDirectory(path)
    if (problems.length > 0) code = 1
    const verdict = problems.length === 0 ? ['valid'] : problems
    for (const line of verdict) process.stdout.write(`${printable(`${path}: ${line}`)}\n`)
  }
  return code
}

function printable(text) {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '?')
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  process.exitCode = main(process.argv.slice(2))
}
