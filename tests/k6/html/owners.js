// Which form a field belongs to.
import { parseHTML } from 'k6/html';
export default function () {
  const d = parseHTML(`<form id=f1><select id=s1><option id=o1><optgroup><option id=o2></optgroup></select><select form=f2 id=s2><option id=o3><option id=o4 form=f1></select><select form=zz id=s3><option id=o5></select><option id=o6><option id=o7 form=f2><datalist id=d1><option id=o8></datalist>
  <fieldset id=fs form=f2><legend id=l1>x</legend></fieldset><fieldset><legend id=l2></legend></fieldset><legend id=l3></legend><label id=lb1><input form=f2 id=i1></label><label id=lb2 for=i1 form=f2></label><label id=lb3 for=nn></label><output id=ou1 form=f2></output><output id=ou2></output><object id=ob1 form=f2></object><object id=ob2></object><button id=b1 form=zz></button><button id=b2 form=s1></button><textarea id=t1 form=f2></textarea><keygen id=k1 form=f2><input id=i2 form=""></form>
  <form id=f2></form><select id=s4 form=f1><option id=o9></select><option id=o10><label id=lb4 for=i3></label><form id=f3><input id=i3></form><label id=lb5><input id=i4 form=f3></label><fieldset id=fs2 form=f3><legend id=l4></legend></fieldset>
  <map id=m1 name=mm></map><img id=im1 usemap="#m1"><object id=ob3 usemap="#m1"></object><img id=im2 usemap="#mm"><input id=im3 usemap="#m1"><object id=ob4 usemap="m1"></object>`);
  for (const id of 'o1 o2 o3 o4 o5 o6 o7 o8 o9 o10 l1 l2 l3 l4 lb1 lb2 lb3 lb4 lb5 ou1 ou2 ob1 ob2 b1 b2 t1 k1 s1 s2 s3 s4 fs fs2 i1 i2'.split(' ')) {
    const e = d.find('#' + id).get(0);
    if (!e) { console.log(id, 'gone'); continue; }
    let r; try { r = e.form(); r = r === undefined ? 'undefined' : r.id(); } catch (x) { r = x.name + ' ' + x.message; }
    let c = ''; if (e.control) { try { c = e.control(); c = c ? c.id() : c; } catch (x) { c = x.message; } }
    console.log(id, r, c);
  }
  console.log(d.find('#m1').get(0).images().map((e) => e.id()).join());
  for (const id of ['b1','i1','i2','b2']) { const e = d.find('#'+id).get(0); console.log(id, e.formAction(), e.formMethod(), e.formTarget(), e.formEnctype(), e.formNoValidate(), e.labels().map(l => l.id())); }
}
