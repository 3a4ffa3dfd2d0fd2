/**
 * Mail providers at which anybody can have an address. An address there says nothing of where its owner works, and
 * asking for its domain would buy the provider's brand for every such customer. The list is the project's own and
 * short on purpose: the providers that fill real customer lists.
 */

/** Registrable domains. */
const PROVIDERS = new Set(
  `gmail.com googlemail.com outlook.com msn.com passport.com windowslive.com
  icloud.com me.com mac.com aol.com aim.com ymail.com rocketmail.com
  proton.me protonmail.com protonmail.ch pm.me tutanota.com tutanota.de tuta.io tuta.com tutamail.com
  posteo.de posteo.net mailbox.org hushmail.com fastmail.com fastmail.fm zoho.com zohomail.com
  mail.com email.com hey.com duck.com inbox.com inbox.lv
  web.de t-online.de freenet.de arcor.de online.de email.de mail.de
  bluewin.ch hispeed.ch aon.at chello.at
  orange.fr wanadoo.fr free.fr laposte.net sfr.fr neuf.fr bbox.fr numericable.fr club-internet.fr
  libero.it virgilio.it tiscali.it alice.it tin.it tim.it fastwebnet.it email.it
  terra.es sapo.pt
  btinternet.com virginmedia.com ntlworld.com blueyonder.co.uk talktalk.net tiscali.co.uk
  telenet.be skynet.be ziggo.nl kpnmail.nl planet.nl home.nl xs4all.nl hetnet.nl
  online.no telia.com spray.se comhem.se bredband.net mail.dk
  wp.pl o2.pl onet.pl onet.eu interia.pl op.pl tlen.pl gazeta.pl
  seznam.cz email.cz centrum.cz volny.cz centrum.sk azet.sk zoznam.sk freemail.hu citromail.hu abv.bg
  mail.ru bk.ru list.ru inbox.ru rambler.ru ya.ru ukr.net i.ua tut.by
  qq.com foxmail.com 163.com 126.com yeah.net sina.com sina.cn sohu.com 139.com 189.cn aliyun.com
  naver.com daum.net hanmail.net nate.com rediffmail.com
  uol.com.br bol.com.br terra.com.br ig.com.br globomail.com
  comcast.net verizon.net att.net sbcglobal.net bellsouth.net cox.net charter.net earthlink.net juno.com
  optonline.net windstream.net roadrunner.com rr.com shaw.ca sympatico.ca videotron.ca telus.net
  bigpond.com bigpond.net.au optusnet.com.au iinet.net.au xtra.co.nz
  mailinator.com guerrillamail.com yopmail.com 10minutemail.com trashmail.com`.split(/\s+/),
);

/** Providers with one name under many suffixes: `hotmail.co.uk`, `yahoo.co.jp`, `gmx.net`. */
const FAMILIES = new Set(['hotmail', 'live', 'outlook', 'yahoo', 'gmx', 'yandex']);

/** `registrable` is a registrable domain in normal form. */
export function isFreeMail(registrable: string): boolean {
  return PROVIDERS.has(registrable) || FAMILIES.has(registrable.slice(0, registrable.indexOf('.')));
}
