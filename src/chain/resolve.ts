import { lstatSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, sep } from 'node:path'
import { compareText } from '../core/diagnostic.ts'
import { lookProblem } from '../core/errors.ts'
import { isInside, realRootOf } from '../core/read-files.ts'
import { didYouMean } from '../core/text.ts'

export type StepResolution =
  | { ok: true; directory: string }
  | { ok: false; code: string; message: string; hint?: string | undefined }

/**
 * Finds the skill that a chain calls by name: below the parent of the chain skill's directory,
 * siblings first, then the shallowest. Two at one depth are an error. A name may be a path
 * (`e2e/smoke`) inside that parent.
 */
export function resolveStep(chainDirectory: string, name: string): StepResolution {
  const exact = resolveExactly(chainDirectory, name)
  if (exact.ok) return exact
  // Some disks and editors compose letters with marks, and others do not.
  const forms = [name.normalize('NFC'), name.normalize('NFD')]
  const found = forms.map((form) => resolveExactly(chainDirectory, form))
  return found.find(({ ok }) => ok) ?? exact
}

function resolveExactly(chainDirectory: string, name: string): StepResolution {
  const refusal = checkStepName(name)
  if (refusal !== undefined) return refusal
  const root = dirname(chainDirectory)
  const sibling = join(root, ...name.split('/'))
  const obstacle = problemAt(sibling)
  if (obstacle !== undefined) {
    return {
      ok: false,
      code: 'step-unreadable',
      message: `the step ${name} cannot be looked for: ${sibling} cannot be read: ${obstacle}`,
      hint: 'Make it readable, fix or remove the link, or change the name of the step.',
    }
  }
  const found = isSkill(sibling) ? [sibling] : shallowest(root, name)
  const [directory, second] = found
  if (directory === undefined) {
    const hint = 'A chain may call the skills beside it and those deeper; check the name.'
    return {
      ok: false,
      code: 'step-missing',
      message: `there is no skill ${name} in ${root} or below`,
      hint: `${suggestion(chainDirectory, sibling)} ${hint}`.trim(),
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
  const isPlain = name.split('/').every((part) => !['', '.', '..'].includes(part))
  if (isPlain && !/[\0\\]|^[A-Za-z]:/.test(name)) return undefined
  return {
    ok: false,
    code: 'step-name-refused',
    message: `the step ${JSON.stringify(name)} is not the name of a directory beside the chain or deeper`,
    hint: 'Use a name such as test-unit, or a path such as e2e/smoke.',
  }
}

const skillFiles = ['SKILL.md', 'skill.md']
const maxDepth = 6
const maxDirectories = 2000

function shallowest(root: string, name: string): string[] {
  const parts = name.split('/')
  let level = [root]
  let visited = 0
  for (let depth = 0; depth < maxDepth && level.length > 0; depth++) {
    visited += level.length
    if (visited > maxDirectories) return []
    const below = level.flatMap((directory) => directoriesIn(directory))
    const found = below.map((place) => join(place, ...parts)).filter((place) => isSkill(place))
    if (found.length > 0) return found
    level = below
  }
  return []
}

/** The skill beside the place where this one should lie, whose name is nearest. */
function suggestion(chainDirectory: string, sibling: string): string {
  const root = dirname(chainDirectory)
  const beside = dirname(sibling).slice(root.length + 1)
  const skills = directoriesIn(dirname(sibling)).filter(
    (directory) => directory !== chainDirectory && isSkill(directory),
  )
  const names = skills.map((directory) => join(beside, basename(directory)).split(sep).join('/'))
  return didYouMean(join(beside, basename(sibling)), names)
}

/** One that cannot be read counts as empty. */
function directoriesIn(directory: string): string[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !['.git', 'node_modules'].includes(entry.name))
      .map((entry) => join(directory, entry.name))
      .toSorted(compareText)
  } catch {
    return []
  }
}

function isSkill(directory: string): boolean {
  return skillFiles.some((file) => {
    try {
      return statSync(join(directory, file), { throwIfNoEntry: false })?.isFile() === true
    } catch {
      return false
    }
  })
}

/** Why it is not known whether a skill is there. */
function problemAt(directory: string): string | undefined {
  try {
    for (const file of skillFiles) statSync(join(directory, file), { throwIfNoEntry: false })
    return undefined
  } catch (error) {
    return lookProblem(error)
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
