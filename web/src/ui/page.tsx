import { type ReactNode, useEffect } from 'react';

/** A page: its title, in the window too, what can be done, and the rest. */
export function Page(props: { title: string; aside?: ReactNode; children: ReactNode }) {
  useEffect(() => {
    document.title = `${props.title} · Agent-Reach`;
  }, [props.title]);
  return (
    <>
      <header className="page-head">
        <h1 tabIndex={-1}>{props.title}</h1>
        <div className="page-aside">{props.aside}</div>
      </header>
      {props.children}
    </>
  );
}
