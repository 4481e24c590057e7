//! `brunt record ca`: the recorder's certificate authority, and how to trust it.

use std::path::Path;

use brunt_recorder::Authority;

use crate::print::print;
use crate::{
    Context,
    exit::Exit,
    failure::{Failure, Outcome},
};

/// Prints the authority, and writes its certificate where it is wanted.
pub(super) fn perform(context: &Context, folder: &Path, export: Option<&Path>) -> Outcome<Exit> {
    let authority = Authority::open(folder).map_err(super::failure)?;
    let Some(to) = export else {
        print(context, &explained(&authority))?;
        return Ok(Exit::Success);
    };
    let ending = to.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let is_der = ["crt", "cer", "der"].iter().any(|der| ending.eq_ignore_ascii_case(der));
    let written = if is_der {
        std::fs::write(to, authority.der())
    } else {
        std::fs::write(to, authority.pem())
    };
    written.map_err(|error| {
        let message = format!("cannot write the certificate to \"{}\"", to.display());
        Failure::from(anyhow::Error::new(error).context(message))
    })?;
    print(context, &format!("{}\nSHA-256: {}\n", to.display(), authority.fingerprint()))?;
    Ok(Exit::Success)
}

fn explained(authority: &Authority) -> String {
    let file = authority.certificate_file();
    let file = file.display();
    format!(
        "\
certificate: {file}
    SHA-256: {}

The recorder signs a certificate for each host with this authority. It was made on this machine, for this user; whoever has its
key ({}/ca-key.pem) can read your HTTPS. Trust it where you record, and take it out again afterwards.

--browser           trusts it by itself, in a profile that is gone when the browser closes
Chrome, Chromium    Settings, Privacy and security, Security, Manage certificates, Authorities: import {file}, for websites
  on Linux          certutil -d sql:$HOME/.pki/nssdb -A -t C,, -n \"brunt record\" -i {file}
Firefox             Settings, Privacy & Security, View Certificates, Authorities: import {file}, for websites
Debian, Ubuntu      sudo cp {file} /usr/local/share/ca-certificates/brunt-record.crt && sudo update-ca-certificates
Fedora, RHEL        sudo cp {file} /etc/pki/ca-trust/source/anchors/brunt-record.pem && sudo update-ca-trust
macOS               sudo security add-trusted-cert -d -r trustRoot -k /Library/Keychains/System.keychain {file}
Windows             certutil -addstore -user Root brunt-record.crt   (brunt record ca --export brunt-record.crt)
curl                curl --proxy http://127.0.0.1:8000 --cacert {file} https://shop.test/
Node                NODE_EXTRA_CA_CERTS={file}
Python requests     REQUESTS_CA_BUNDLE={file}
Java                keytool -importcert -noprompt -alias brunt-record -file {file} -keystore brunt.p12 -storepass changeit
                    java -Djavax.net.ssl.trustStore=brunt.p12 -Djavax.net.ssl.trustStorePassword=changeit …

A browser that goes through the recorder already finds the certificate at http://brunt.record/.
",
        authority.fingerprint(),
        authority.folder().display(),
    )
}
