import { lstatSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, sep } from 'node:path'
import { compareText } from '../core/diagnostic.ts'
import { isInside, realRootOf } from '../core/read-files.ts'
import { lookProblem } from '../core/errors.ts'
import { nearest } from '../core/text.ts'

/**
 * Finds the skill that a chain calls by name: below the parent of the chain skill's directory,
 * siblings first, then the shallowest. Two at one depth are an error. A name may be a path
 * (`e2e/smoke`) inside that parent. A place that cannot be read is reported where it might hold the
 * skill.
 */
export function resolveStep(chainDirectory: string, name: string): StepResolution {
  // Some disks and editors compose letters with marks, and others do not.
  const forms = [...new Set([name, name.normalize('NFC'), name.normalize('NFD')])]
  const found = forms.map((form) => resolveExactly(chainDirectory, form))
  const [exact] = found
  return found.find(({ ok }) => ok) ?? exact ?? resolveExactly(chainDirectory, name)
}

function resolveExactly(chainDirectory: string, name: string): StepResolution {
  const refusal = checkStepName(name)
  if (refusal !== undefined) return refusal
  const root = dirname(chainDirectory)
  const sibling = join(root, ...name.split('/'))
  const near = lookFor(sibling)
  if (near.kind === 'unreadable') return unreadable(name, near)
  const { found, closed } =
    near.kind === 'skill' ? { found: [sibling], closed: undefined } : shallowest(root, name)
  const [directory, second] = found
  if (directory === undefined) {
    if (closed !== undefined) return unreadable(name, closed)
    return {
      ok: false,
      code: 'step-missing',
      message: `there is no skill ${name} in ${root} or below`,
      hint: `${suggestion(chainDirectory, sibling)}A chain may call the skills beside it and those deeper; check the name.`,
    }
  }
  if (second !== undefined) {
    const places = found.map((place) => place.slice(root.length + 1)).join(', ')
    return {
      ok: false,
      code: 'step-ambiguous',
      message: `${name} could be any of ${places} in ${root}`,
      hint: 'Write the path below that directory instead of the name.',
    }
  }
  return insideRoot(root, name, directory)
}

/** Refuses every name that could lead outside; undefined when it is fine. */
export function checkStepName(name: string): StepResolution | undefined {
  const parts = name.split('/')
  const reason =
    name === '' || name.includes('\0')
      ? 'is not a name'
      : name.startsWith('/') || /^[A-Za-z]:/.test(name)
        ? 'is absolute'
        : name.includes('\\')
          ? 'contains a backslash'
          : parts.includes('..')
            ? 'leads upwards'
            : parts.some((part) => part === '' || part === '.')
              ? 'has an empty part'
              : undefined
  if (reason === undefined) return undefined
  return {
    ok: false,
    code: 'step-name-refused',
    message: `the step ${JSON.stringify(name)} ${reason}; a step is named by its directory beside the chain or deeper`,
    hint: 'Use a name such as test-unit, or a path such as e2e/smoke.',
  }
}

const skillFiles = ['SKILL.md', 'skill.md']
const maxDepth = 6
const maxDirectories = 2000

interface Search {
  found: string[]
  closed: Unreadable | undefined
}

function shallowest(root: string, name: string): Search {
  const parts = name.split('/')
  let closed: Unreadable | undefined
  let level = [root]
  let visited = 0
  for (let depth = 0; depth < maxDepth && level.length > 0; depth++) {
    const below: string[] = []
    for (const directory of level) {
      if (++visited > maxDirectories) return { found: [], closed }
      const listing = directoriesIn(directory)
      if (Array.isArray(listing)) below.push(...listing)
      else closed ??= listing
    }
    const found: string[] = []
    for (const directory of below.map((place) => join(place, ...parts))) {
      const look = lookFor(directory)
      if (look.kind === 'skill') found.push(directory)
      if (look.kind === 'unreadable') closed ??= look
    }
    if (found.length > 0) return { found, closed }
    level = below
  }
  return { found: [], closed }
}

/** The skill beside the place where this one should lie, whose name is nearest. */
function suggestion(chainDirectory: string, sibling: string): string {
  const listing = directoriesIn(dirname(sibling))
  const others = Array.isArray(listing) ? listing : []
  const skills = others.filter(
    (directory) => directory !== chainDirectory && lookFor(directory).kind === 'skill',
  )
  const name = nearest(
    basename(sibling),
    skills.map((directory) => basename(directory)),
  )
  if (name === undefined) return ''
  const root = dirname(chainDirectory)
  const path = join(dirname(sibling), name).slice(root.length + 1)
  return `Did you mean ${path.split(sep).join('/')}? `
}

interface Unreadable {
  kind: 'unreadable'
  path: string
  reason: string
}

function directoriesIn(directory: string): string[] | Unreadable {
  try {
    return readdirSync(directory, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name)
      .filter((name) => name !== '.git' && name !== 'node_modules')
      .toSorted(compareText)
      .map((name) => join(directory, name))
  } catch (error) {
    const reason = lookProblem(error)
    return reason === undefined ? [] : { kind: 'unreadable', path: directory, reason }
  }
}

function lookFor(directory: string): { kind: 'skill' | 'nothing' } | Unreadable {
  for (const file of skillFiles) {
    const path = join(directory, file)
    try {
      if (statSync(path, { throwIfNoEntry: false })?.isFile() === true) return { kind: 'skill' }
    } catch (error) {
      const reason = lookProblem(error)
      if (reason !== undefined) return { kind: 'unreadable', path, reason }
    }
  }
  return { kind: 'nothing' }
}

function unreadable(name: string, { path, reason }: Unreadable): StepResolution {
  return {
    ok: false,
    code: 'step-unreadable',
    message: `the step ${name} cannot be looked for: ${path} cannot be read: ${reason}`,
    hint: 'Make it readable, fix or remove the link, or change the name of the step.',
  }
}

function insideRoot(root: string, name: string, directory: string): StepResolution {
  try {
    const real = realpathSync.native(directory)
    const realRoot = realRootOf(root, directory, real)
    if (isInside(realRoot, real) && !isTextOutside(realRoot, real)) {
      return { ok: true, directory: real }
    }
  } catch {
    // Gone since it was found, or a loop of links: refused like a link that leads out.
  }
  return {
    ok: false,
    code: 'step-escapes',
    message: `the step ${name} is a link that leads out of ${root}`,
    hint: 'Move the skill into that directory.',
  }
}

function isTextOutside(realRoot: string, directory: string): boolean {
  return skillFiles
    .map((file) => join(directory, file))
    .some((path) => {
      const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true
      return isLink && !isInside(realpathSync.native(realRoot), realpathSync.native(path))
    })
}

export type StepResolution =
  | { ok: true; directory: string }
  | { ok: false; code: string; message: string; hint?: string | undefined }
