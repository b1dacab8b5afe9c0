//! Sends 100 MB over QUIC to itself with any control: `cargo run --release --example transfer -- illinois`.

use std::error::Error;
use std::net::Ipv4Addr;
use std::sync::Arc;

use rustls::pki_types::PrivatePkcs8KeyDer;

const BYTES: usize = 100_000_000;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let control = std::env::args().nth(1).unwrap_or_else(|| "fit".to_owned());
    let mut transport = quinn::TransportConfig::default();
    transport.congestion_controller_factory(ackclock_quic::factory(&control)?);

    let identity = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
    let certificate = identity.cert.der().clone();
    let key = PrivatePkcs8KeyDer::from(identity.signing_key.serialize_der());
    let mut settings = quinn::ServerConfig::with_single_cert(vec![certificate.clone()], key.into())?;
    settings.transport_config(Arc::new(transport));
    let server = quinn::Endpoint::server(settings, (Ipv4Addr::LOCALHOST, 0).into())?;
    let address = server.local_addr()?;
    let sending = tokio::spawn(async move {
        let connection = server.accept().await.ok_or("nobody came")?.await?;
        let mut stream = connection.open_uni().await?;
        stream.write_all(&vec![0; BYTES]).await?;
        stream.finish()?;
        connection.closed().await;
        Ok::<_, Box<dyn Error + Send + Sync>>(connection.stats().path)
    });

    let mut trusted = rustls::RootCertStore::empty();
    trusted.add(certificate)?;
    let mut client = quinn::Endpoint::client((Ipv4Addr::LOCALHOST, 0).into())?;
    client.set_default_client_config(quinn::ClientConfig::with_root_certificates(Arc::new(trusted))?);
    let connection = client.connect(address, "localhost")?.await?;
    let received = connection.accept_uni().await?.read_to_end(BYTES).await?;
    connection.close(0_u32.into(), b"done");
    client.wait_idle().await;
    let path = sending.await?.map_err(|error| error.to_string())?;
    println!(
        "{control}: {} bytes, window {} bytes, {} packets lost",
        received.len(),
        path.cwnd,
        path.lost_packets
    );
    Ok(())
}
