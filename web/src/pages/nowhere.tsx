import { useText } from '../i18n/use-text.js';
import { Page } from '../ui/page.js';

export default function Nowhere() {
  const t = useText();
  return (
    <Page title={t('nowhere.title')}>
      <p className="muted">{t('nowhere.help')}</p>
    </Page>
  );
}
