import { RouteTable } from './routes.js';

test('a miss is told apart by the shape of the path', () => {
  const table = new RouteTable();
  table.add('/tasks', ['POST']);
  table.add('/tasks', 'GET');
  table.add('/tasks/:task_id', 'GET');
  table.add('/files/*', 'GET');
  expect(table.nearMiss('/tasks?x=/').methods).toEqual(['GET', 'POST']);
  expect(table.nearMiss('/tasks/7')).toEqual({ methods: ['GET'] });
  expect(table.nearMiss('/tasks/')).toEqual({ methods: ['GET'], emptyParam: 'task_id' });
  expect(table.nearMiss('/tasks/7/8').methods).toEqual([]);
  expect(table.nearMiss('/files/x').methods).toEqual([]);
});
