import { describeScript } from './_script-suite.ts'
import { programPath } from './_shells.ts'

// Debian: apt-get install dash mawk gawk original-awk busybox. What is missing is skipped.
const busybox = programPath('busybox') ?? ''
const applets = ['awk', 'grep', 'tr', 'wc', 'readlink', 'cat', 'dirname', 'basename']

for (const shell of ['bash', 'dash']) {
  describeScript({
    name: shell,
    shell: [shell],
    tools: {},
    missing: programPath(shell) === undefined,
  })
}
for (const awk of ['mawk', 'gawk', 'original-awk']) {
  const path = programPath(awk)
  describeScript({
    name: `sh with ${awk}`,
    shell: ['sh'],
    tools: { awk: [path ?? ''] },
    missing: path === undefined,
  })
}
describeScript({
  name: 'busybox: its sh and tools',
  shell: [busybox, 'sh'],
  tools: Object.fromEntries(applets.map((applet) => [applet, [busybox, applet]])),
  missing: busybox === '',
  // Debian's busybox compares bytes, so that a dot is not a letter with an accent.
  bytesOnly: true,
})
