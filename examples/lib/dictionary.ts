/*
 * A small English-German word list. It replaces words one by one and knows neither grammar nor context: enough
 * to show a task travel, and no translation. The agent says so in its results.
 */
const PAIRS =
  'a=ein about=über after=nach again=wieder agent=Agent agents=Agenten all=alle also=auch always=immer an=ein and=und ' +
  'answer=Antwort answers=Antworten are=sind as=als at=bei away=fort back=zurück be=sein because=weil before=bevor ' +
  'begins=beginnt better=besser between=zwischen both=beide but=aber by=durch call=Aufruf caller=Aufrufer can=kann ' +
  'clock=Uhr comes=kommt cost=Kosten cannot=kann-nicht database=Datenbank day=Tag dead=tot deadline=Frist delay=Verzögerung ' +
  'dependency=Abhängigkeit document=Dokument documents=Dokumente does=tut door=Tür down=unten each=jeder early=früh ' +
  'end=Ende ends=endet error=Fehler every=jeder everybody=jeder failure=Ausfall fails=scheitert fast=schnell few=wenige ' +
  'finds=findet first=erste for=für from=von gives=gibt good=gut has=hat have=haben he=er healthy=gesund heartbeat=Herzschlag ' +
  'help=Hilfe here=hier how=wie if=wenn in=in into=hinein is=ist it=es its=sein kitchen=Küche knows=weiß late=spät ' +
  'lease=Pacht line=Schlange list=Liste little=wenig long=lang lost=verloren machine=Maschine machines=Maschinen many=viele ' +
  'may=darf message=Nachricht messages=Nachrichten minute=Minute minutes=Minuten more=mehr most=meiste must=muss name=Name ' +
  'needs=braucht network=Netz never=nie new=neu next=nächste night=Nacht no=kein not=nicht nothing=nichts now=jetzt ' +
  'number=Zahl of=von often=oft old=alt on=auf once=einmal one=eins only=nur open=offen or=oder order=Auftrag orders=Aufträge ' +
  'other=andere out=aus over=über part=Teil people=Menschen person=Person place=Ort power=Strom question=Frage queue=Warteschlange ' +
  'reason=Grund restart=Neustart result=Ergebnis results=Ergebnisse retry=Wiederholung right=richtig road=Straße same=gleich ' +
  'says=sagt second=Sekunde seconds=Sekunden sends=schickt service=Dienst she=sie should=sollte since=seit slow=langsam ' +
  'small=klein so=so some=einige soon=bald state=Zustand station=Station still=noch system=System table=Tabelle task=Aufgabe ' +
  'tasks=Aufgaben tells=erzählt than=als that=dass the=die their=ihr them=sie then=dann there=dort they=sie this=dies ' +
  'those=jene time=Zeit times=Male to=zu today=heute together=zusammen town=Stadt true=wahr truth=Wahrheit two=zwei ' +
  'under=unter until=bis up=auf used=benutzt very=sehr wait=warten waits=wartet was=war water=Wasser way=Weg we=wir well=gut ' +
  'were=waren what=was when=wann where=wo which=welche while=während who=wer why=warum will=wird with=mit without=ohne ' +
  'word=Wort words=Wörter work=Arbeit worker=Arbeiter workers=Arbeiter works=arbeitet world=Welt would=würde wrong=falsch ' +
  'year=Jahr yes=ja yesterday=gestern you=du';

const DICTIONARY: ReadonlyMap<string, string> = new Map(
  PAIRS.split(' ').map((pair) => pair.split('=') as [string, string]),
);

export const DICTIONARY_SIZE = DICTIONARY.size;

export interface WordByWord {
  text: string;
  /** Share of the words that were in the dictionary, 0 to 1. */
  known: number;
}

/** Replaces each known word; what is unknown stays as it is. */
export function translateWords(text: string): WordByWord {
  let total = 0;
  let known = 0;
  const translated = text.replace(/\p{L}+/gu, (word) => {
    total += 1;
    const found = DICTIONARY.get(word.toLowerCase());
    if (found === undefined) return word;
    known += 1;
    return /^\p{Lu}/u.test(word) ? found.charAt(0).toUpperCase() + found.slice(1) : found;
  });
  return { text: translated, known: total === 0 ? 0 : Math.round((known / total) * 1000) / 1000 };
}
