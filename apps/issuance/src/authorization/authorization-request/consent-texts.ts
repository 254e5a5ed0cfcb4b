/** Texts of the consent page and of the pages after it. `{issuer}` and `{host}` are replaced. */
export interface ConsentTexts {
  title: string;
  /** Before the list of credentials. */
  credentials: string;
  /** Before the host of the wallet. */
  wallet: string;
  warning: string;
  /** Label of the box that an approval needs. */
  confirmed: string;
  approve: string;
  refuse: string;
  /** Effect of the choices. */
  effect: string;
  refusedTitle: string;
  refused: string;
  endedTitle: string;
  ended: string;
  continueTitle: string;
  continue: string;
}

const en: ConsentTexts = {
  title: 'Allow this wallet to receive your credentials?',
  credentials: '{issuer} was asked to issue:',
  wallet: 'The wallet that receives them is at:',
  warning: '{issuer} does not know this wallet. If another person sent you here, refuse.',
  confirmed: 'I started in my wallet myself and trust the address {host}.',
  approve: 'Continue and sign in',
  refuse: 'Refuse',
  effect:
    'If you continue, you sign in next, and the wallet may fetch the credentials again later. If you refuse, nothing is issued and nothing is sent to the wallet.',
  refusedTitle: 'You refused',
  refused: 'Nothing was issued, and nothing was sent to the wallet. You can close this page.',
  endedTitle: 'This request has ended',
  ended: 'It was answered already, has expired or was started in another browser. Start again in your wallet.',
  continueTitle: 'You are being redirected',
  continue: 'Continue',
};

const de: ConsentTexts = {
  title: 'Darf dieses Wallet Ihre Nachweise erhalten?',
  credentials: '{issuer} soll ausstellen:',
  wallet: 'Das Wallet, das sie erhält, hat die Adresse:',
  warning: '{issuer} kennt dieses Wallet nicht. Lehnen Sie ab, wenn jemand anderes Sie hierher geschickt hat.',
  confirmed: 'Ich habe selbst in meinem Wallet begonnen und vertraue der Adresse {host}.',
  approve: 'Weiter zur Anmeldung',
  refuse: 'Ablehnen',
  effect:
    'Wenn Sie fortfahren, melden Sie sich als Nächstes an, und das Wallet darf die Nachweise später erneut abrufen. Wenn Sie ablehnen, wird nichts ausgestellt und nichts an das Wallet gesendet.',
  refusedTitle: 'Sie haben abgelehnt',
  refused: 'Es wurde nichts ausgestellt und nichts an das Wallet gesendet. Sie können diese Seite schließen.',
  endedTitle: 'Diese Anfrage ist beendet',
  ended:
    'Sie wurde bereits beantwortet, ist abgelaufen oder wurde in einem anderen Browser begonnen. Beginnen Sie in Ihrem Wallet erneut.',
  continueTitle: 'Sie werden weitergeleitet',
  continue: 'Weiter',
};

const fr: ConsentTexts = {
  title: 'Autoriser ce portefeuille à recevoir vos attestations ?',
  credentials: '{issuer} doit émettre :',
  wallet: 'Le portefeuille qui les reçoit se trouve à l’adresse :',
  warning: '{issuer} ne connaît pas ce portefeuille. Si quelqu’un d’autre vous a envoyé ici, refusez.',
  confirmed: 'J’ai commencé moi-même dans mon portefeuille et je fais confiance à l’adresse {host}.',
  approve: 'Continuer et se connecter',
  refuse: 'Refuser',
  effect:
    'Si vous continuez, vous vous connectez ensuite, et le portefeuille pourra obtenir ces attestations à nouveau plus tard. Si vous refusez, rien n’est émis et rien n’est envoyé au portefeuille.',
  refusedTitle: 'Vous avez refusé',
  refused: 'Rien n’a été émis et rien n’a été envoyé au portefeuille. Vous pouvez fermer cette page.',
  endedTitle: 'Cette demande est terminée',
  ended:
    'Elle a déjà reçu une réponse, a expiré ou a été commencée dans un autre navigateur. Recommencez dans votre portefeuille.',
  continueTitle: 'Vous allez être redirigé',
  continue: 'Continuer',
};

const es: ConsentTexts = {
  title: '¿Permitir que esta cartera reciba sus credenciales?',
  credentials: '{issuer} debe emitir:',
  wallet: 'La cartera que las recibe está en:',
  warning: '{issuer} no conoce esta cartera. Si otra persona le ha enviado aquí, rechace.',
  confirmed: 'He empezado yo en mi cartera y confío en la dirección {host}.',
  approve: 'Continuar e iniciar sesión',
  refuse: 'Rechazar',
  effect:
    'Si continúa, a continuación inicia sesión, y la cartera podrá obtener las credenciales de nuevo más adelante. Si rechaza, no se emite nada y no se envía nada a la cartera.',
  refusedTitle: 'Ha rechazado la solicitud',
  refused: 'No se ha emitido nada ni se ha enviado nada a la cartera. Puede cerrar esta página.',
  endedTitle: 'Esta solicitud ha terminado',
  ended: 'Ya tiene respuesta, ha caducado o se inició en otro navegador. Empiece de nuevo en su cartera.',
  continueTitle: 'Se le está redirigiendo',
  continue: 'Continuar',
};

export const CONSENT_TEXTS = { en, de, fr, es };
export type PageLanguage = keyof typeof CONSENT_TEXTS;
