import { readFileSync } from 'node:fs'

const { chain_state: state } = JSON.parse(readFileSync(0, 'utf8'))
const { orders = 0, load_ms: time = 0 } = state.total_metrics
const slow = time > 10_000
console.log(
  JSON.stringify({
    status: slow ? 'failure' : 'success',
    result: `${orders} orders in the tests, ${slow ? 'too slow' : 'quickly enough'}`,
    errors: slow ? [{ code: 'slow', message: `the load took ${time} ms` }] : [],
    metrics: {},
  }),
)
