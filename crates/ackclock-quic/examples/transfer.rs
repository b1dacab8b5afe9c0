//! Sends 100 MB over QUIC to itself with any control: `cargo run --release --example transfer -- illinois`.
use std::{error::Error, net::Ipv4Addr, sync::Arc};

use quinn::{ClientConfig, Endpoint, ServerConfig, TransportConfig};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let control = std::env::args().nth(1).unwrap_or_else(|| "fit".to_owned());
    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(ackclock_quic::factory(&control)?);

    let rcgen::CertifiedKey { cert, signing_key } = rcgen::generate_simple_self_signed(["localhost".into()])?;
    let key = rustls::pki_types::PrivateKeyDer::try_from(signing_key.serialize_der())?;
    let mut settings = ServerConfig::with_single_cert(vec![cert.der().clone()], key)?;
    settings.transport_config(Arc::new(transport));
    let server = Endpoint::server(settings, (Ipv4Addr::LOCALHOST, 0).into())?;
    let send = async {
        let connection = server.accept().await.ok_or("nobody came")?.await?;
        let mut stream = connection.open_uni().await?;
        stream.write_all(&vec![0; 100_000_000]).await?;
        stream.finish()?;
        connection.closed().await;
        Ok::<_, Box<dyn Error>>(connection.stats().path)
    };

    let mut trusted = rustls::RootCertStore::empty();
    trusted.add(cert.der().clone())?;
    let client = Endpoint::client((Ipv4Addr::LOCALHOST, 0).into())?;
    let config = ClientConfig::with_root_certificates(Arc::new(trusted))?;
    let connecting = client.connect_with(config, server.local_addr()?, "localhost")?;
    let receive = async { Ok(connecting.await?.accept_uni().await?.read_to_end(usize::MAX).await?.len()) };
    let (path, bytes) = tokio::try_join!(send, receive)?;
    println!("{control}: {bytes} bytes, window {} bytes, {} packets lost", path.cwnd, path.lost_packets);
    Ok(())
}
