/** A chain that waits at its gate, and one whose gate nobody has reached. */
export const chain = {
  ship: { metadata: ['chain: |', '  build', '  publish gate guard="Bash(git push:*)"'] },
  auto: { metadata: ['chain: |', '  build gate'] },
  build: { run: 'echo built' },
  publish: {},
}

/** Command lines with which an agent would decide about its own gate, or give itself a permission. */
export function decisions(runId: string): string[][] {
  return [
    ['runs', 'approve', runId],
    ['runs', 'reject', runId],
    ['run', 'auto', '--yes-gates'],
    ['run', 'auto', '--trust-workspace'],
    ['run', 'auto', '--grant', 'network'],
    ['trust', '--yes'],
    ['trust', '--revoke'],
    ['runs', 'cancel', runId],
    ['runs', 'prune', '--unfinished'],
    ['hooks', 'uninstall', 'claude'],
    ['chain', 'start', 'auto'],
  ]
}
