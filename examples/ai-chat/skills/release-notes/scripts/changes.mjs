#!/usr/bin/env node
// What changed, as the skill's tool: one JSON object of the script protocol.
console.log(JSON.stringify({ status: 'success', result: ['Orders can be cancelled.'] }))
