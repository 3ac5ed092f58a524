import t from 'tap'
import { createNetworks, isNetwork, isCoveredBy } from '../../packages/auth/src/addresses.ts'

t.test('a network is an address of either family, alone or with a length that it can have', (t) => {
  for (const right of ['192.0.2.0/24', '0.0.0.0/0', '192.0.2.7', '2001:db8::/32', '::1', '::/0']) {
    t.ok(isNetwork(right), right)
  }
  for (const wrong of [
    '',
    '192.0.2.0/33',
    '192.0.2/24',
    '192.0.2.0/024',
    '192.0.2.0/',
    '192.0.2.0/24/8',
    '192.0.2.0/-1',
    '2001:db8::/129',
    'fe80::1%eth0/64',
    'example.com',
    '*',
  ]) {
    t.notOk(isNetwork(wrong), wrong)
  }
  t.end()
})

t.test('an address is within a network of its family, however it is spelled', (t) => {
  const isWithin = createNetworks(['192.0.2.0/24', '2001:db8::/32', '203.0.113.7'])
  for (const inside of [
    '192.0.2.1',
    '::ffff:192.0.2.1',
    '::ffff:c000:201',
    '2001:db8:1::1',
    '2001:0db8:0:0:0:0:0:1',
    '203.0.113.7',
  ]) {
    t.ok(isWithin(inside), inside)
  }
  for (const outside of [
    '192.0.3.1',
    '203.0.113.8',
    '2001:db9::1',
    '::1',
    '',
    'unix:',
    '192.0.2',
  ]) {
    t.notOk(isWithin(outside), outside)
  }
  t.end()
})

t.test('networks cover those that lie within them', (t) => {
  t.ok(isCoveredBy(['192.0.2.0/25', '192.0.2.9'], ['192.0.2.0/24']))
  t.ok(isCoveredBy(['192.0.2.0/24'], ['192.0.2.0/24']))
  t.notOk(isCoveredBy(['192.0.0.0/16'], ['192.0.2.0/24']), 'wider')
  t.notOk(isCoveredBy(['192.0.3.0/24'], ['192.0.2.0/24']), 'beside it')
  t.notOk(isCoveredBy(['192.0.2.1', '::1'], ['192.0.2.0/24']), 'one of them is of the other family')
  t.notOk(isCoveredBy(['0.0.0.0/0'], ['::/0']))
  t.end()
})
