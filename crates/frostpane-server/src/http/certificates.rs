//! The TLS certificate, which can be reloaded while the service runs.

use std::path::{Path, PathBuf};
use std::sync::{Arc, RwLock};

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::sync;

pub struct Certificates {
    certificate: PathBuf,
    key: PathBuf,
    acceptor: RwLock<TlsAcceptor>,
}

impl Certificates {
    pub fn read(certificate: &Path, key: &Path) -> Result<Self, String> {
        Ok(Self {
            acceptor: RwLock::new(acceptor(certificate, key)?),
            certificate: certificate.to_owned(),
            key: key.to_owned(),
        })
    }

    /// Reads both files again. If that fails, the certificate stays as it was.
    pub fn reload(&self) -> Result<(), String> {
        let acceptor = acceptor(&self.certificate, &self.key)?;
        *sync::write(&self.acceptor) = acceptor;
        Ok(())
    }

    pub fn acceptor(&self) -> TlsAcceptor {
        sync::read(&self.acceptor).clone()
    }
}

fn acceptor(certificate: &Path, key: &Path) -> Result<TlsAcceptor, String> {
    let failed = |path: &Path, cause: String| format!("{}: {cause}", path.display());
    let chain = CertificateDer::pem_file_iter(certificate)
        .and_then(|all| all.collect::<Result<Vec<_>, _>>())
        .map_err(|cause| failed(certificate, cause.to_string()))?;
    let secret = PrivateKeyDer::from_pem_file(key).map_err(|cause| failed(key, cause.to_string()))?;
    let config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(chain, secret)
        .map_err(|cause| failed(certificate, cause.to_string()))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}
