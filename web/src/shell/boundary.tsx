import { Component, type ReactNode } from 'react';
import { useText } from '../i18n/use-text.js';

/** Keeps a page that breaks from taking everything with it. */
export class Boundary extends Component<{ children: ReactNode }, { error: Error | undefined }> {
  override state = { error: undefined };

  static getDerivedStateFromError(error: Error) {
    return { error };
  }

  override render(): ReactNode {
    return this.state.error === undefined ? this.props.children : <Broken error={this.state.error} />;
  }
}

function Broken({ error }: { error: Error }) {
  const t = useText();
  return (
    <div className="empty" role="alert">
      <h1>{t('error.title')}</h1>
      <p>{t('error.crash')}</p>
      <p className="mono muted">{error.message}</p>
      <button type="button" onClick={() => location.reload()}>
        {t('error.reload')}
      </button>
    </div>
  );
}
