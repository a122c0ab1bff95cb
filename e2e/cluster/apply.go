package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"
)

// Resources of Argo CD.
var (
	Applications    = schema.GroupVersionResource{Group: "argoproj.io", Version: "v1alpha1", Resource: "applications"}
	ApplicationSets = schema.GroupVersionResource{Group: "argoproj.io", Version: "v1alpha1", Resource: "applicationsets"}
)

// Apply applies YAML documents by server-side apply, as one person's own.
func (c *Cluster) Apply(ctx context.Context, documents string) error {
	for _, doc := range strings.Split(documents, "\n---") {
		if strings.TrimSpace(doc) == "" {
			continue
		}
		var u unstructured.Unstructured
		if err := yaml.Unmarshal([]byte(doc), &u.Object); err != nil {
			return fmt.Errorf("reading a manifest: %w", err)
		}
		if u.Object == nil {
			continue
		}
		if err := c.applyOne(ctx, &u); err != nil {
			return fmt.Errorf("applying %s %s: %w", u.GetKind(), u.GetName(), err)
		}
	}
	return nil
}

func (c *Cluster) applyOne(ctx context.Context, u *unstructured.Unstructured) error {
	r, err := c.resource(u.GroupVersionKind(), u.GetNamespace())
	if err != nil {
		return err
	}
	data, err := json.Marshal(u.Object)
	if err != nil {
		return err
	}
	force := true
	_, err = r.Patch(ctx, u.GetName(), types.ApplyPatchType, data, metav1.PatchOptions{FieldManager: "somebody", Force: &force})
	return err
}

// Allow gives a user what the ClusterRole nav-watchdog of a file allows.
func (c *Cluster) Allow(ctx context.Context, file, user string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	for _, doc := range strings.Split(string(data), "\n---") {
		if strings.Contains(doc, "kind: ClusterRole\n") {
			if err := c.Apply(ctx, doc); err != nil {
				return err
			}
		}
	}
	return c.Apply(ctx, fmt.Sprintf(`apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: e2e-%[1]s}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: nav-watchdog}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: %[1]s}]
`, user))
}

// Try applies one document without effect: the API server decodes, admits and
// validates it, and stores nothing.
func (c *Cluster) Try(ctx context.Context, document string) error {
	var u unstructured.Unstructured
	if err := yaml.Unmarshal([]byte(document), &u.Object); err != nil {
		return fmt.Errorf("reading a manifest: %w", err)
	}
	r, err := c.resource(u.GroupVersionKind(), u.GetNamespace())
	if err != nil {
		return err
	}
	data, err := json.Marshal(u.Object)
	if err != nil {
		return err
	}
	// Strict: a field that the API server does not know is an error.
	_, err = r.Patch(ctx, u.GetName(), types.ApplyPatchType, data, metav1.PatchOptions{
		FieldManager: "somebody", DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict,
	})
	if err != nil {
		return fmt.Errorf("trying %s %s: %w", u.GetKind(), u.GetName(), err)
	}
	return nil
}

// Discover waits until the API server serves kinds of a group.
func (c *Cluster) Discover(ctx context.Context, group string, kinds ...string) error {
	return c.await(ctx, APIServer, func(context.Context) error {
		c.mapper.Reset()
		for _, kind := range kinds {
			if _, err := c.mapper.RESTMapping(schema.GroupKind{Group: group, Kind: kind}); err != nil {
				return err
			}
		}
		return nil
	})
}

// Patch merges a change (YAML) into one object; sub names a subresource or is
// empty.
func (c *Cluster) Patch(ctx context.Context, apiVersion, kind, namespace, name, change string, sub ...string) error {
	r, err := c.resource(schema.FromAPIVersionAndKind(apiVersion, kind), namespace)
	if err != nil {
		return err
	}
	data, err := yaml.YAMLToJSON([]byte(change))
	if err != nil {
		return err
	}
	_, err = r.Patch(ctx, name, types.MergePatchType, data, metav1.PatchOptions{FieldManager: "somebody"}, sub...)
	if err != nil {
		return fmt.Errorf("patching %s %s: %w", kind, name, err)
	}
	return nil
}

// Delete deletes one object.
func (c *Cluster) Delete(ctx context.Context, apiVersion, kind, namespace, name string) error {
	r, err := c.resource(schema.FromAPIVersionAndKind(apiVersion, kind), namespace)
	if err != nil {
		return err
	}
	return r.Delete(ctx, name, metav1.DeleteOptions{})
}

func (c *Cluster) resource(gvk schema.GroupVersionKind, namespace string) (dynamic.ResourceInterface, error) {
	m, err := c.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return nil, err
	}
	if namespace == "" {
		return c.Dynamic.Resource(m.Resource), nil
	}
	return c.Dynamic.Resource(m.Resource).Namespace(namespace), nil
}
