import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { lazy } from 'react';
import { BrowserRouter, Route, Routes } from 'react-router';
import { ApiError } from './api/client.js';
import { Shell } from './shell/shell.js';

/* A page is loaded when it is first opened. */
const Fleet = lazy(() => import('./pages/fleet.js'));
const AgentPage = lazy(() => import('./pages/agent.js'));
const Tasks = lazy(() => import('./pages/tasks.js'));
const TaskPage = lazy(() => import('./pages/task.js'));
const Why = lazy(() => import('./pages/why.js'));
const Simulator = lazy(() => import('./pages/route.js'));
const Events = lazy(() => import('./pages/events.js'));
const Capabilities = lazy(() => import('./pages/capabilities.js'));
const Topology = lazy(() => import('./pages/topology.js'));
const System = lazy(() => import('./pages/system.js'));
const Nowhere = lazy(() => import('./pages/nowhere.js'));

const client = new QueryClient({
  defaultOptions: {
    queries: {
      // What was refused will be refused again; what got no answer may get one.
      retry: (failures, error) => failures < 2 && (!(error instanceof ApiError) || error.status >= 500),
      retryDelay: 500,
      refetchOnWindowFocus: true,
      networkMode: 'always',
    },
    mutations: { networkMode: 'always' },
  },
});

export function App() {
  return (
    <QueryClientProvider client={client}>
      <BrowserRouter>
        <Routes>
          <Route element={<Shell />}>
            <Route index element={<Fleet />} />
            <Route path="agents/:id" element={<AgentPage />} />
            <Route path="tasks" element={<Tasks />} />
            <Route path="tasks/:id" element={<TaskPage />} />
            <Route path="why" element={<Why />} />
            <Route path="route" element={<Simulator />} />
            <Route path="events" element={<Events />} />
            <Route path="capabilities" element={<Capabilities />} />
            <Route path="topology" element={<Topology />} />
            <Route path="system" element={<System />} />
            <Route path="*" element={<Nowhere />} />
          </Route>
        </Routes>
      </BrowserRouter>
    </QueryClientProvider>
  );
}
