import type { FieldRule } from './_rules-fields.ts'

export interface NameFinding {
  code: FieldRule
  message: string
  hint?: string | undefined
}

const limit = 64

/**
 * What the specification says about a name. Lengths count code points. Letters outside a-z that the
 * reference validator lets pass are a warning; characters that nobody accepts are an error.
 */
export function checkName(written: string, directoryName: string | undefined): NameFinding[] {
  const isPlain = /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(written)
  if (isPlain && written.length <= limit && directoryName === written) return []
  const name = written.trim().normalize('NFKC')
  const found: NameFinding[] = []
  const hint = suggestion(name)
  const length = Array.from(name).length
  if (length > limit) {
    const message = `The name has ${length} characters; ${limit} are allowed.`
    found.push({ code: 'name-too-long', message })
  }
  if (name !== name.toLowerCase()) {
    const message = `The name \`${name}\` has upper-case letters.`
    found.push({ code: 'name-uppercase', message, hint })
  }
  if (name.startsWith('-') || name.endsWith('-')) {
    const message = `The name \`${name}\` begins or ends with a hyphen.`
    found.push({ code: 'name-hyphen-edge', message, hint })
  }
  if (name.includes('--')) {
    const message = `The name \`${name}\` has two hyphens in a row.`
    found.push({ code: 'name-hyphen-double', message, hint })
  }
  const others = [...new Set(name.match(/[^\p{L}\p{N}-]/gu))]
  if (others.length > 0) {
    const listed = others.map((character) => `\`${character}\``).join(', ')
    const message = `The name \`${name}\` contains ${listed}; a-z, 0-9 and hyphens are allowed.`
    found.push({ code: 'name-characters', message, hint })
  } else if (/[^\p{ASCII}]/u.test(name) || name !== written.trim()) {
    const message = `The name \`${written.trim()}\` has letters outside a-z, which clients may refuse.`
    found.push({ code: 'name-unicode', message, hint: 'Prefer a-z, 0-9 and hyphens.' })
  }
  if (directoryName !== undefined && directoryName.normalize('NFKC') !== name) {
    found.push({
      code: 'name-directory-mismatch',
      message: `The skill is named \`${name}\`, its directory \`${directoryName}\`.`,
      hint: 'Rename the directory or the skill; clients find a skill by both.',
    })
  }
  return found
}

function suggestion(name: string): string | undefined {
  const meant = name
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '')
  return meant === '' || meant === name ? undefined : `Call it \`${meant}\`.`
}
