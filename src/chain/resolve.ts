import { readdirSync, realpathSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { compareText, isInside, realRootOf } from '../base/index.ts'
import type { StepResolution } from './lookup.ts'

/**
 * Finds the skill that a chain calls by name: below the parent of the chain skill's directory, its
 * siblings first, then deeper, the shallowest first. Two at one depth are an error. A name may be a
 * path (`e2e/smoke`), but nothing leads out of that parent.
 */
export function resolveStep(chainDirectory: string, name: string): StepResolution {
  const refusal = checkStepName(name)
  if (refusal !== undefined) return refusal
  const root = dirname(chainDirectory)
  const sibling = join(root, ...name.split('/'))
  const found = holdsSkill(sibling) ? [sibling] : shallowest(root, name)
  const [directory, second] = found
  if (directory === undefined) {
    return {
      ok: false,
      code: 'step-missing',
      message: `there is no skill ${name} in ${root} or below`,
      hint: 'A chain may call the skills beside it and those deeper; check the name.',
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

/** Refuses every name that could lead elsewhere; undefined when it is fine. */
export function checkStepName(name: string): StepResolution | undefined {
  const parts = name.split('/')
  const reason =
    name === '' || name.includes('\0')
      ? 'is no name'
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

const maxDepth = 6
const maxDirectories = 2000

/** Every match at the smallest depth that has one, in code-point order. */
function shallowest(root: string, name: string): string[] {
  const parts = name.split('/')
  let level = [root]
  let visited = 0
  for (let depth = 0; depth < maxDepth && level.length > 0; depth++) {
    const below: string[] = []
    for (const directory of level) {
      if (++visited > maxDirectories) return []
      below.push(...directoriesIn(directory))
    }
    const matches = below
      .map((directory) => join(directory, ...parts))
      .filter((directory) => holdsSkill(directory))
    if (matches.length > 0) return matches
    level = below
  }
  return []
}

function directoriesIn(directory: string): string[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name)
      .filter((name) => name !== '.git' && name !== 'node_modules')
      .toSorted(compareText)
      .map((name) => join(directory, name))
  } catch {
    return []
  }
}

function holdsSkill(directory: string): boolean {
  return ['SKILL.md', 'skill.md'].some(
    (file) => statSync(join(directory, file), { throwIfNoEntry: false })?.isFile() === true,
  )
}

function insideRoot(root: string, name: string, directory: string): StepResolution {
  try {
    const real = realpathSync.native(directory)
    if (isInside(realRootOf(root, directory, real), real)) return { ok: true, directory: real }
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
