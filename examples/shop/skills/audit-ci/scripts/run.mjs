const major = Number(process.versions.node.split('.')[0])
if (major < 22) throw new Error(`Node ${process.version} is too old`)
console.log(
  JSON.stringify({
    status: 'success',
    result: `Node ${major} is supported`,
    metrics: { node: major },
  }),
)
