import { useQueryClient } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { giveToken } from '../api/token.js';
import { useText } from '../i18n/use-text.js';

/** Asks for the bearer token, and says so when the last one was wrong. */
export function TokenPrompt({ wrong }: { wrong: boolean }) {
  const t = useText();
  const id = useId();
  const client = useQueryClient();
  const [value, setValue] = useState('');
  const submit = () => {
    client.clear();
    giveToken(value);
  };
  return (
    <form
      className="empty token"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <h1>{t('token.title')}</h1>
      <p className="muted">{t('token.help')}</p>
      {wrong && (
        <p className="note bad" role="alert">
          <span aria-hidden="true">✕</span> {t('token.wrong')}
        </p>
      )}
      <span className="field">
        <label htmlFor={id}>{t('token.label')}</label>
        <input
          id={id}
          type="password"
          autoComplete="off"
          value={value}
          onChange={(event) => setValue(event.target.value)}
          aria-invalid={wrong}
        />
      </span>
      <button type="submit" className="primary" disabled={value.trim() === ''}>
        {t('token.send')}
      </button>
    </form>
  );
}
