import { sha256 } from '#core/json'
import type { Acceptance, AcceptedPart, ActingKind } from './model.ts'
import {
  acceptedPlacements,
  actingText,
  placementsIn,
  placementsText,
  workspaceFiles,
} from './workspace-files.ts'
import { workspaceRelative } from './skill-files.ts'
import type { TrustStore } from './store.ts'

/**
 * Accepts a change that the user made with a Skillrail command. Applies `edit` to the accepted text of
 * one file, '' if there is none, and accepts nothing else.
 * @param change `before`: text of the file before the command.
 */
export async function acceptEdit(
  store: TrustStore,
  change: { workspace: string; path: string; kind: ActingKind; before: string },
  edit: (acceptedText: string) => string,
): Promise<void> {
  const { workspace, path, kind, before } = change
  const name = workspaceRelative(workspace, path)
  const file = workspaceFiles.find((one) => one.path === name && one.kind === kind)
  if (!file) return
  const textOf = (text: string) => actingText(file, text) ?? text
  const acceptance: Partial<Acceptance> = store.find(workspace) ?? { skills: [] }
  const { pinned = false, newText, skills, parts = [] } = acceptance
  const isOther = (part: AcceptedPart) =>
    part.owner !== '' || part.path !== name || part.kind !== kind
  const acceptedPart = parts.find((part) => !isOther(part))
  const textBefore = textOf(before)
  const previousText = acceptedText(store, acceptedPart, textBefore)
  if (previousText === undefined) return
  const text = kind === 'category' ? edit(previousText) : textOf(edit(previousText))
  const part = { owner: '', path: name, kind, digest: sha256(text), size: text.length, text }
  const otherParts = parts.filter(isOther)
  await store.accept(workspace, text === '' ? otherParts : [...otherParts, part], {
    pinned,
    newText,
    skills,
  })
}

/** Undefined if the accepted text differs from the file, and was not kept. */
function acceptedText(
  store: TrustStore,
  part: AcceptedPart | undefined,
  textBefore: string,
): string | undefined {
  if (!part) return ''
  return part.digest === sha256(textBefore) ? textBefore : store.texts.read(part.digest)
}

/** Accepts the new categories of tools. A tool whose category was not as accepted stays unaccepted. */
export async function acceptPlacements(
  store: TrustStore,
  file: { workspace: string; path: string; before: string; after: string },
): Promise<void> {
  const [placementsBefore, placementsAfter] = [placementsIn(file.before), placementsIn(file.after)]
  if (!store.read().acceptances.some(({ workspace }) => workspace === file.workspace)) return
  await acceptEdit(store, { ...file, kind: 'category' }, (acceptedText) => {
    const placements = acceptedPlacements(acceptedText)
    for (const id of new Set([...placementsBefore.keys(), ...placementsAfter.keys()])) {
      const category = placementsAfter.get(id)
      if (placements.get(id) !== placementsBefore.get(id)) continue
      if (category === undefined) placements.delete(id)
      else placements.set(id, category)
    }
    return placementsText(placements)
  })
}
