// Ends with one message if Node is too old to build: Node 20 cannot import the TypeScript of dev/. This file runs
// before everything else, so it uses only syntax that every Node understands.
const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 18)) {
  console.error(
    `This needs Node 22.18 or newer, and this is Node ${process.versions.node}. ` +
      'npm install brings one into node_modules/.bin, which npm scripts use: npm install && npm start. ' +
      'If npm did not allow the install script of the package "node", run: npm rebuild node',
  )
  process.exit(1)
}
