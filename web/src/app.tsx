import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { lazy } from 'react';
import { BrowserRouter, Route, Routes } from 'react-router';
import { ApiError } from './api/client.js';
import { Shell } from './shell/shell.js';

/* A page is loaded when it is first opened. */
const Fleet = lazy(() => import('./pages/fleet.js'));
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
            <Route path="*" element={<Nowhere />} />
          </Route>
        </Routes>
      </BrowserRouter>
    </QueryClientProvider>
  );
}
