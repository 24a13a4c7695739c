import { text } from 'node:stream/consumers'

const { chain_state: state } = JSON.parse(await text(process.stdin))
console.log(`receipt for ${state.previous_outputs[0].result}`)
