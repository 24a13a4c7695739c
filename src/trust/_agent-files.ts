import { join } from 'node:path'
import { compareText, realPathOf, sha256 } from '../base/index.ts'
import { splitFrontmatter } from '../skill/index.ts'
import { digestFile } from './_file-digest.ts'
import { workspaceRelative } from './_relative.ts'
import { agentDirectories, agentFilesIn } from './agent-places.ts'
import { unreadableDigest } from './assess.ts'
import type { ActingPart } from './model.ts'

/**
 * The acting parts of the files that define subagents, in the given directories of a workspace. What
 * acts is the frontmatter: tools, model, skills, permissions. The prompt below it is text.
 */
export function agentParts(
  workspace: string,
  directories: readonly string[],
  options: { text: boolean },
): ActingPart[] {
  const paths = directories.flatMap((directory) =>
    agentDirectories.flatMap((place) => agentFilesIn(join(directory, place)).files),
  )
  return [...new Set(paths)]
    .toSorted(compareText)
    .flatMap((path) => agentFileParts(workspace, path, options))
}

/** The parts of one file, none where it has no frontmatter and so defines nothing. */
export function agentFileParts(
  workspace: string,
  path: string,
  options: { text: boolean },
): ActingPart[] {
  const base = { owner: '', path: workspaceRelative(workspace, path) }
  const content = digestFile(realPathOf(path) ?? path)
  if (!content.ok) {
    return [{ ...base, kind: 'agent', digest: unreadableDigest, size: 0, problem: content.problem }]
  }
  const { digest, size, text } = content
  // Too long to be kept as text: then all of it counts.
  if (text === undefined) return [{ ...base, kind: 'agent', digest, size }]
  const split = splitFrontmatter(text)
  if (!split.found) return []
  const { source } = split
  const acting: ActingPart = {
    ...base,
    kind: 'agent',
    digest: sha256(source),
    size: Buffer.byteLength(source),
    text: source,
  }
  return options.text ? [acting, { ...base, kind: 'text', digest, size, text }] : [acting]
}
