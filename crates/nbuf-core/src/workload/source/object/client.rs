//! A client with the settings of the environment, and where its credentials come from.
//!
//! If the environment has no credentials, the cloud may: its machines have an address for them. That address answers
//! within milliseconds or is not there, so nbuf asks for some seconds and not for a minute.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey, AwsCredentialProvider};
use object_store::azure::{AzureConfigKey, AzureCredentialProvider, MicrosoftAzureBuilder};
use object_store::gcp::{GcpCredentialProvider, GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::{ClientConfigKey, ClientOptions, Error, ObjectStore, RetryConfig};

use super::parts::Name;

/// Tries of a request after the first, and how long they may take.
const RETRIES: usize = 5;
const RETRY_SECONDS: u64 = 60;
/// The same for the cloud's credentials, and for one answer of it.
const CLOUD_RETRIES: usize = 1;
const CLOUD_RETRY_SECONDS: u64 = 4;
const CLOUD_TIMEOUT: &str = "2s";

/// Settings that are credentials; those of one list are needed together.
const AMAZON: [&[&str]; 5] = [
    &["aws_access_key_id"],
    &["aws_secret_access_key"],
    &["aws_web_identity_token_file", "aws_role_arn"],
    &["aws_container_credentials_relative_uri"],
    &["aws_container_credentials_full_uri", "aws_container_authorization_token_file"],
];
const AZURE: [&[&str]; 6] = [
    &["azure_storage_account_key"],
    &["azure_storage_sas_key"],
    &["azure_storage_token"],
    &["azure_storage_client_id", "azure_storage_tenant_id", "azure_storage_client_secret"],
    &["azure_storage_client_id", "azure_storage_tenant_id", "azure_federated_token_file"],
    &[
        "azure_fabric_token_service_url",
        "azure_fabric_workload_host",
        "azure_fabric_session_token",
        "azure_fabric_cluster_identifier",
    ],
];
const GOOGLE: [&[&str]; 4] = [
    &["google_service_account"],
    &["google_service_account_key"],
    &["google_application_credentials"],
    &["google_bearer_token"],
];
/// Where the command line of Google keeps credentials, below the home directory.
const GOOGLE_FILE: &str = ".config/gcloud/application_default_credentials.json";

/// The client of a bucket.
pub(super) struct Client {
    pub(super) store: Arc<dyn ObjectStore>,
    /// What is asked for credentials, if the environment has none.
    pub(super) cloud: Option<Cloud>,
}

/// The address of a cloud for credentials, as a client of its store asks it.
pub(super) enum Cloud {
    Amazon(AwsCredentialProvider),
    Azure(AzureCredentialProvider),
    Google(GcpCredentialProvider),
}

impl Cloud {
    /// Asks for credentials, which the client keeps.
    pub(super) async fn ask(&self) -> Result<(), Error> {
        match self {
            Self::Amazon(cloud) => cloud.get_credential().await.map(drop),
            Self::Azure(cloud) => cloud.get_credential().await.map(drop),
            Self::Google(cloud) => cloud.get_credential().await.map(drop),
        }
    }

    /// What to set where the cloud gives none.
    pub(super) fn remedy(&self) -> &'static str {
        match self {
            Self::Amazon(_) => {
                "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION, or AWS_SKIP_SIGNATURE=true for a public bucket"
            }
            Self::Azure(_) => {
                "AZURE_STORAGE_ACCOUNT_KEY or AZURE_STORAGE_SAS_KEY, or AZURE_SKIP_SIGNATURE=true for a public container"
            }
            Self::Google(_) => {
                "GOOGLE_SERVICE_ACCOUNT to the path of a key file, or GOOGLE_SKIP_SIGNATURE=true for a public bucket"
            }
        }
    }
}

/// A client with the settings of the environment.
pub(super) fn client(name: &Name) -> Result<Client, Error> {
    // An earlier call has installed the same, or the host program another one that does.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let url = name.store();
    let retry = retry(RETRIES, RETRY_SECONDS);
    // Whether plain HTTP is allowed is a setting of the environment for S3 alone: emulators need it.
    let is_plain = |variable: &str| {
        std::env::var(variable).is_ok_and(|url| url.to_ascii_lowercase().starts_with("http://"))
    };
    match name.scheme.as_str() {
        "s3" => {
            let plain = is_plain("AWS_ENDPOINT_URL") || is_plain("AWS_ENDPOINT_URL_S3");
            let builder = AmazonS3Builder::from_env().with_url(url).with_retry(retry);
            amazon(if plain { builder.with_allow_http(true) } else { builder })
        }
        "gs" => {
            let builder = GoogleCloudStorageBuilder::from_env().with_url(url).with_retry(retry);
            let options = ClientOptions::new().with_allow_http(true);
            let plain = is_plain("GOOGLE_BASE_URL");
            let builder = if plain { builder.with_client_options(options) } else { builder };
            let home = std::env::var_os("HOME");
            google(builder, home.as_deref().map(Path::new))
        }
        _ => {
            let builder = MicrosoftAzureBuilder::from_env().with_url(url).with_retry(retry);
            let plain = is_plain("AZURE_STORAGE_ENDPOINT") || is_plain("AZURITE_BLOB_STORAGE_URL");
            azure(if plain { builder.with_allow_http(true) } else { builder })
        }
    }
}

fn retry(max_retries: usize, seconds: u64) -> RetryConfig {
    let retry_timeout = Duration::from_secs(seconds);
    RetryConfig { max_retries, retry_timeout, ..RetryConfig::default() }
}

/// How the cloud is tried. Only the question for credentials is short: the requests after it have their tries.
fn short() -> RetryConfig {
    retry(CLOUD_RETRIES, CLOUD_RETRY_SECONDS)
}

/// A client of S3.
fn amazon(builder: AmazonS3Builder) -> Result<Client, Error> {
    if !asks_amazon(&builder) {
        return Ok(Client { store: Arc::new(builder.build()?), cloud: None });
    }
    let timeout = AmazonS3ConfigKey::Client(ClientConfigKey::Timeout);
    let asking = builder.clone().with_config(timeout, CLOUD_TIMEOUT).with_retry(short()).build()?;
    let cloud = Arc::clone(asking.credentials());
    let store = Arc::new(builder.with_credentials(Arc::clone(&cloud)).build()?);
    Ok(Client { store, cloud: Some(Cloud::Amazon(cloud)) })
}

/// A client of Azure Blob Storage.
fn azure(builder: MicrosoftAzureBuilder) -> Result<Client, Error> {
    if !asks_azure(&builder) {
        return Ok(Client { store: Arc::new(builder.build()?), cloud: None });
    }
    let timeout = AzureConfigKey::Client(ClientConfigKey::Timeout);
    let asking = builder.clone().with_config(timeout, CLOUD_TIMEOUT).with_retry(short()).build()?;
    let cloud = Arc::clone(asking.credentials());
    let store = Arc::new(builder.with_credentials(Arc::clone(&cloud)).build()?);
    Ok(Client { store, cloud: Some(Cloud::Azure(cloud)) })
}

/// A client of Google Cloud Storage.
fn google(builder: GoogleCloudStorageBuilder, home: Option<&Path>) -> Result<Client, Error> {
    if !asks_google(&builder, home) {
        return Ok(Client { store: Arc::new(builder.build()?), cloud: None });
    }
    let timeout = GoogleConfigKey::Client(ClientConfigKey::Timeout);
    let asking = builder.clone().with_config(timeout, CLOUD_TIMEOUT).with_retry(short()).build()?;
    let cloud = Arc::clone(asking.credentials());
    let store = Arc::new(builder.with_credentials(Arc::clone(&cloud)).build()?);
    Ok(Client { store, cloud: Some(Cloud::Google(cloud)) })
}

/// Whether the environment has no credentials, as `object_store` looks for them, and needs some.
fn asks_amazon(builder: &AmazonS3Builder) -> bool {
    let value = |name: &str| builder.get_config_value(&name.parse().ok()?);
    asks(&AMAZON, &["aws_skip_signature"], value)
}

fn asks_azure(builder: &MicrosoftAzureBuilder) -> bool {
    let value = |name: &str| builder.get_config_value(&name.parse().ok()?);
    let others = ["azure_skip_signature", "azure_storage_use_emulator", "azure_use_azure_cli"];
    asks(&AZURE, &others, value)
}

fn asks_google(builder: &GoogleCloudStorageBuilder, home: Option<&Path>) -> bool {
    let value = |name: &str| builder.get_config_value(&name.parse().ok()?);
    let has_file = home.is_some_and(|home| home.join(GOOGLE_FILE).exists());
    !has_file && asks(&GOOGLE, &["google_skip_signature"], value)
}

/// Whether no place has all of its settings, and no switch is on.
fn asks(places: &[&[&str]], switches: &[&str], value: impl Fn(&str) -> Option<String>) -> bool {
    let is_on = |name: &&str| {
        let text = value(name).unwrap_or_default().to_ascii_lowercase();
        ["1", "true", "on", "yes", "y"].contains(&text.as_str())
    };
    let has = |place: &&[&str]| place.iter().all(|name| value(name).is_some());
    !switches.iter().any(is_on) && !places.iter().any(has)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A setting and its value, of a variable.
    fn split(variable: &str) -> (&str, &str) {
        variable.split_once('=').unwrap()
    }

    #[test]
    fn amazon_is_asked_only_without_credentials() {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let check = |variables: &[&str], want| {
            let set = |builder: AmazonS3Builder, variable: &&str| {
                let (name, value) = split(variable);
                builder.with_config(name.parse().unwrap(), value)
            };
            let builder = variables.iter().fold(AmazonS3Builder::new(), set);
            assert_eq!(asks_amazon(&builder), want, "{variables:?}");
            let client = amazon(builder.with_bucket_name("b")).unwrap();
            assert_eq!(client.cloud.is_some(), want, "{variables:?}");
        };
        check(&[], true);
        check(&["aws_region=us-east-1", "aws_skip_signature=false"], true);
        check(&["aws_skip_signature=True"], false);
        check(&["aws_access_key_id=a", "aws_secret_access_key=b"], false);
        check(&["aws_role_arn=a"], true);
        check(&["aws_role_arn=a", "aws_web_identity_token_file=/b"], false);
        check(&["aws_container_credentials_relative_uri=/a"], false);
        check(&["aws_container_credentials_full_uri=http://a"], true);
        let pod = ["aws_container_credentials_full_uri=http://a"];
        check(&[pod[0], "aws_container_authorization_token_file=/b"], false);
    }

    #[test]
    fn azure_is_asked_only_without_credentials() {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let check = |variables: &[&str], want| {
            let set = |builder: MicrosoftAzureBuilder, variable: &&str| {
                let (name, value) = split(variable);
                builder.with_config(name.parse().unwrap(), value)
            };
            let builder = variables.iter().fold(MicrosoftAzureBuilder::new(), set);
            assert_eq!(asks_azure(&builder), want, "{variables:?}");
            let client = azure(builder.with_account("a").with_container_name("c")).unwrap();
            assert_eq!(client.cloud.is_some(), want, "{variables:?}");
        };
        check(&[], true);
        check(&["azure_storage_account_key=a2V5"], false);
        check(&["azure_storage_access_key=a2V5"], false);
        check(&["azure_storage_sas_key=a=b"], false);
        check(&["azure_storage_token=a"], false);
        check(&["azure_skip_signature=false"], true);
        check(&["azure_skip_signature=true"], false);
        check(&["azure_storage_use_emulator=true"], false);
        check(&["azure_use_azure_cli=true"], false);
        // A managed identity of a choice is the cloud's too.
        check(&["azure_client_id=a", "azure_tenant_id=b"], true);
        check(&["azure_client_id=a", "azure_tenant_id=b", "azure_client_secret=c"], false);
        check(&["azure_client_id=a", "azure_tenant_id=b", "azure_federated_token_file=/c"], false);
    }

    #[test]
    fn google_is_asked_only_without_credentials() {
        let check = |variables: &[&str], want| {
            let set = |builder: GoogleCloudStorageBuilder, variable: &&str| {
                let (name, value) = split(variable);
                builder.with_config(name.parse().unwrap(), value)
            };
            let builder = variables.iter().fold(GoogleCloudStorageBuilder::new(), set);
            assert_eq!(asks_google(&builder, None), want, "{variables:?}");
        };
        check(&[], true);
        check(&["google_skip_signature=false"], true);
        check(&["google_skip_signature=true"], false);
        check(&["google_service_account=/a"], false);
        check(&["google_service_account_key={}"], false);
        check(&["google_application_credentials=/a"], false);
        let home = tempfile::tempdir().unwrap();
        let builder = GoogleCloudStorageBuilder::new();
        assert!(asks_google(&builder, Some(home.path())));
        let file = home.path().join(GOOGLE_FILE);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, "{}").unwrap();
        assert!(!asks_google(&builder, Some(home.path())));
    }
}
