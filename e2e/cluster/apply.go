package cluster

import (
	"context"
	"encoding/json"
	"fmt"
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
